/**
 * Mutations that Stryker has no mutator for, each of a kind that a person makes by mistake: another argument or name in place of
 * one of the same type, an argument left out, two statements in the other order, a condition more, another number.
 */
import ts from 'typescript';

/** One text for another; `exchange`: two neighbouring statements change places. */
export type OwnMutation =
  | { readonly mutator: string; readonly start: number; readonly end: number; readonly replacement: string }
  | { readonly mutator: string; readonly start: number; readonly end: number; readonly exchange: Statements };
type Statements = { readonly endOfFirst: number; readonly startOfSecond: number };

/** Their arguments may come in any order. */
const COMMUTATIVE = /^(?:Math\.(?:max|min|hypot)|Object\.is)$/;

export function ownMutations(program: ts.Program, path: string): readonly OwnMutation[] {
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(path);
  if (source === undefined) throw new Error(`${path}: not a source of this project`);
  const found: OwnMutation[] = [];
  const textOf = (node: ts.Node): string => node.getText(source);
  const replace = (mutator: string, node: ts.Node, replacement: string): void => {
    if (replacement !== textOf(node)) found.push({ mutator, start: node.getStart(source), end: node.end, replacement });
  };
  const isSame = (a: ts.Type, b: ts.Type): boolean =>
    ((a.flags | b.flags) & (ts.TypeFlags.Any | ts.TypeFlags.Unknown | ts.TypeFlags.Never)) === 0 &&
    checker.isTypeAssignableTo(a, b) &&
    checker.isTypeAssignableTo(b, a);

  function calls(node: ts.CallExpression | ts.NewExpression): void {
    const args = node.arguments ?? ts.factory.createNodeArray();
    const signature = checker.getResolvedSignature(node);
    if (signature === undefined || args.some(ts.isSpreadElement)) return;
    const withArguments = (texts: readonly string[]): string =>
      textOf(node).slice(0, args.pos - node.getStart(source)) + `${texts.join(', ')})`;
    const declared = signature.parameters;
    const fixed = declared.filter(({ valueDeclaration: of }) => !(of && ts.isParameter(of) && of.dotDotDotToken));
    const typeOf = (at: number): ts.Type => checker.getTypeOfSymbolAtLocation(declared[at]!, node);
    const isValue = (arg: ts.Node): boolean => !ts.isArrowFunction(arg) && !ts.isFunctionExpression(arg);
    if (!COMMUTATIVE.test(textOf(node.expression)))
      for (let i = 0; i < Math.min(args.length, fixed.length); i++)
        for (let j = i + 1; j < Math.min(args.length, fixed.length); j++) {
          const [a, b] = [args[i]!, args[j]!];
          const isSwappable =
            isValue(a) &&
            isValue(b) &&
            checker.isTypeAssignableTo(checker.getTypeAtLocation(a), typeOf(j)) &&
            checker.isTypeAssignableTo(checker.getTypeAtLocation(b), typeOf(i));
          if (!isSwappable) continue;
          const texts = args.map(textOf);
          [texts[i], texts[j]] = [texts[j]!, texts[i]!];
          replace('ArgumentsSwapped', node, withArguments(texts));
        }
    const last = declared[args.length - 1]?.valueDeclaration;
    if (args.length > 0 && last && ts.isParameter(last) && !last.dotDotDotToken && checker.isOptionalParameter(last))
      replace('ArgumentDropped', node, withArguments(args.slice(0, -1).map(textOf)));
  }

  function optionalKeys(node: ts.ObjectLiteralExpression): void {
    const type = checker.getContextualType(node);
    if (type === undefined || isTarget(node)) return;
    for (const property of node.properties) {
      if (property.name === undefined || !ts.isIdentifier(property.name)) continue;
      const symbol = type.getProperty(property.name.text);
      if (symbol === undefined || (symbol.flags & ts.SymbolFlags.Optional) === 0) continue;
      const kept = node.properties.filter(other => other !== property).map(textOf);
      replace('ArgumentDropped', node, kept.length === 0 ? '{}' : `{ ${kept.join(', ')} }`);
    }
  }

  function numbers(node: ts.NumericLiteral | ts.BigIntLiteral): void {
    const { parent } = node;
    const isName =
      ('name' in parent && parent.name === node) || (ts.isBindingElement(parent) && parent.initializer !== node);
    if (isName || ts.isLiteralTypeNode(parent) || isInType(node)) return;
    if (ts.isBigIntLiteral(node)) {
      const value = BigInt(node.text.slice(0, -1).replaceAll('_', ''));
      for (const other of new Set([value + 1n, value - 1n, value * 2n])) if (other >= 0n) numeral(node, `${other}n`);
      return;
    }
    const value = Number(node.text);
    const others = Number.isInteger(value) ? [value + 1, value - 1, value * 2] : [value * 2];
    for (const other of new Set(others)) if (other >= 0 && other !== value) numeral(node, String(other));
  }
  const numeral = (node: ts.Node, replacement: string): void => replace('NumberChanged', node, replacement);

  /** The name that is declared next after one of them, or before the last: what is confused stands close together. */
  function neighbour(all: readonly ts.Symbol[], one: ts.Symbol): ts.Symbol | undefined {
    const sorted = [...all].sort((a, b) => a.valueDeclaration!.pos - b.valueDeclaration!.pos);
    const at = sorted.indexOf(one);
    return at < 0 ? undefined : (sorted[at + 1] ?? sorted[at - 1]);
  }

  function variables(node: ts.Identifier): void {
    const own = checker.getSymbolAtLocation(node);
    const isVariable = own?.valueDeclaration !== undefined && isLocal(own.valueDeclaration);
    if (!isVariable || isTarget(node) || !isRead(node)) return;
    const type = checker.getTypeOfSymbolAtLocation(own, own.valueDeclaration!);
    const others = checker
      .getSymbolsInScope(node, ts.SymbolFlags.Variable)
      .filter(
        symbol =>
          symbol === own ||
          (symbol.valueDeclaration !== undefined &&
            isLocal(symbol.valueDeclaration) &&
            symbol.valueDeclaration.end <= node.pos &&
            isSame(checker.getTypeOfSymbolAtLocation(symbol, symbol.valueDeclaration), type)),
      );
    const other = neighbour(others, own);
    if (other !== undefined) replace('NameReplaced', node, other.name);
  }
  /** A parameter or variable of a function of this file. */
  const isLocal = (declaration: ts.Declaration): boolean =>
    declaration.getSourceFile() === source &&
    ts.findAncestor(declaration.parent, ts.isFunctionLike) !== undefined &&
    (ts.isVariableDeclaration(declaration) || ts.isParameter(declaration) || ts.isBindingElement(declaration));

  function properties(node: ts.PropertyAccessExpression): void {
    const own = checker.getSymbolAtLocation(node.name);
    if (own?.valueDeclaration === undefined || isOfLibrary(own)) return;
    const type = checker.getTypeOfSymbolAtLocation(own, node);
    const isFunction = type.getCallSignatures().length > 0;
    const others = checker
      .getPropertiesOfType(checker.getApparentType(checker.getTypeAtLocation(node.expression)))
      .filter(
        symbol =>
          symbol === own ||
          (symbol.valueDeclaration !== undefined &&
            canAccess(node, symbol.valueDeclaration) &&
            symbol.valueDeclaration.parent === own.valueDeclaration!.parent &&
            (symbol.flags & ts.SymbolFlags.Optional) === (own.flags & ts.SymbolFlags.Optional) &&
            isSame(checker.getTypeOfSymbolAtLocation(symbol, node), type)),
      );
    // A method without its object, or one link of a chain, cannot be replaced alone: the call or assignment around it is.
    const { parent } = node;
    const isCallee = ts.isCallExpression(parent) && parent.expression === node;
    const isAssigned = ts.isBinaryExpression(parent) && parent.left === node && isAssignment(parent);
    const whole = isCallee || isAssigned ? parent : node;
    const isChained = ts.isOptionalChain(whole) && ts.isOptionalChain(whole.parent);
    if (isChained || (isFunction && !isCallee) || isTarget(whole)) return;
    const from = whole.getStart(source);
    const name = ts.getNameOfDeclaration(neighbour(others, own)?.valueDeclaration);
    if (name === undefined || !(ts.isIdentifier(name) || ts.isPrivateIdentifier(name))) return;
    const text = textOf(whole);
    const [before, after] = [text.slice(0, node.name.getStart(source) - from), text.slice(node.name.end - from)];
    replace('NameReplaced', whole, before + name.text + after);
  }
  const isOfLibrary = (symbol: ts.Symbol): boolean =>
    /\.d\.[cm]?ts$/.test(symbol.valueDeclaration!.getSourceFile().fileName);

  function statements(list: ts.NodeArray<ts.Statement>): void {
    for (let at = 0; at + 1 < list.length; at++) {
      const [first, second] = [list[at]!, list[at + 1]!];
      if (!isMovable(first) || !isMovable(second) || !depend(first, second)) continue;
      found.push({
        mutator: 'StatementsExchanged',
        start: first.getStart(source),
        end: second.end,
        exchange: { endOfFirst: first.end, startOfSecond: second.getStart(source) },
      });
    }
  }
  /** Whether the order of two statements can matter. */
  function depend(first: ts.Statement, second: ts.Statement): boolean {
    const [a, b] = [effectsOf(first, source!), effectsOf(second, source!)];
    const meet = (one: ReadonlySet<string>, other: ReadonlySet<string>): boolean =>
      [...one].some(name => other.has(name));
    if (meet(a.writes, b.reads) || meet(b.writes, a.reads) || meet(a.writes, b.writes)) return true;
    return (a.acts || a.ends) && (b.acts || b.ends) && !(a.ends && b.ends && !a.acts && !b.acts);
  }

  const guardsOf = (body: ts.Node): readonly ts.Expression[] => {
    const guards: ts.Expression[] = [];
    const look = (node: ts.Node): void => {
      if (ts.isFunctionLike(node)) return;
      if (ts.isIfStatement(node)) guards.push(node.expression);
      ts.forEachChild(node, look);
    };
    ts.forEachChild(body, look);
    return guards;
  };
  /** Another guard of the function is asked too: the one before it and the one after it, where all their names are known. */
  function conditions(node: ts.FunctionLikeDeclaration): void {
    if (node.body === undefined) return;
    const guards = guardsOf(node);
    guards.forEach((guard, at) => {
      for (const other of [guards[at - 1], guards[at + 1]]) {
        if (other === undefined || textOf(other) === textOf(guard) || hasEffects(other)) continue;
        if (isKnownAt(other, guard)) replace('ConditionAdded', guard, `(${textOf(guard)}) && (${textOf(other)})`);
      }
    });
  }
  function isKnownAt(expression: ts.Expression, at: ts.Node): boolean {
    const scope = new Set(checker.getSymbolsInScope(at, ts.SymbolFlags.Value));
    let isKnown = true;
    const look = (node: ts.Node): void => {
      const isName =
        ts.isIdentifier(node) && !(ts.isPropertyAccessExpression(node.parent) && node.parent.name === node);
      const symbol = isName ? checker.getSymbolAtLocation(node) : undefined;
      if (isName && (symbol === undefined || !scope.has(symbol))) isKnown = false;
      const declared = symbol?.valueDeclaration;
      if (declared !== undefined && isLocal(declared) && declared.end > at.pos) isKnown = false;
      ts.forEachChild(node, look);
    };
    look(expression);
    return isKnown;
  }

  const visit = (node: ts.Node): void => {
    if (ts.isTypeNode(node) || ts.isImportDeclaration(node) || ts.isInterfaceDeclaration(node)) return;
    if (ts.isCallExpression(node) || ts.isNewExpression(node)) calls(node);
    else if (ts.isObjectLiteralExpression(node)) optionalKeys(node);
    else if (ts.isNumericLiteral(node) || ts.isBigIntLiteral(node)) numbers(node);
    else if (ts.isIdentifier(node)) variables(node);
    else if (ts.isPropertyAccessExpression(node)) properties(node);
    else if (ts.isBlock(node) || ts.isCaseOrDefaultClause(node)) statements(node.statements);
    if (ts.isFunctionLike(node) && 'body' in node) conditions(node);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** Whether a property can be written at the node: a private one only within its class. */
function canAccess(node: ts.Node, property: ts.Declaration): boolean {
  const name = ts.getNameOfDeclaration(property);
  return (
    name === undefined ||
    !ts.isPrivateIdentifier(name) ||
    ts.findAncestor(node, x => x === property.parent) !== undefined
  );
}

const isInType = (node: ts.Node): boolean => ts.findAncestor(node, ts.isTypeNode) !== undefined;
const isAssignment = (node: ts.BinaryExpression): boolean =>
  node.operatorToken.kind >= ts.SyntaxKind.FirstAssignment && node.operatorToken.kind <= ts.SyntaxKind.LastAssignment;

/** Whether something is written to an expression, also as part of a pattern. */
function isTarget(node: ts.Node): boolean {
  const { parent } = node;
  if (ts.isBinaryExpression(parent)) return parent.left === node && isAssignment(parent);
  if (ts.isPrefixUnaryExpression(parent) || ts.isPostfixUnaryExpression(parent))
    return parent.operator === ts.SyntaxKind.PlusPlusToken || parent.operator === ts.SyntaxKind.MinusMinusToken;
  if (ts.isForOfStatement(parent) || ts.isForInStatement(parent)) return parent.initializer === node;
  if (ts.isDeleteExpression(parent)) return true;
  const isPart =
    ts.isArrayLiteralExpression(parent) ||
    ts.isObjectLiteralExpression(parent) ||
    ts.isSpreadElement(parent) ||
    ts.isNonNullExpression(parent) ||
    (ts.isPropertyAssignment(parent) && parent.initializer === node);
  return isPart && isTarget(parent);
}

/** Whether a name stands for its value here, and is no key, declaration, label or function that is called. */
function isRead(node: ts.Identifier): boolean {
  const { parent } = node;
  if ('name' in parent && parent.name === node) return false;
  if (ts.isBindingElement(parent)) return parent.initializer === node;
  if (ts.isBreakOrContinueStatement(parent) || ts.isLabeledStatement(parent) || ts.isTypeOfExpression(parent))
    return false;
  return !(ts.isCallExpression(parent) && parent.expression === node);
}

const isMovable = (node: ts.Statement): boolean =>
  (ts.isExpressionStatement(node) && !/^super\b/.test(node.getText())) ||
  ts.isIfStatement(node) ||
  ts.isForStatement(node) ||
  ts.isForOfStatement(node) ||
  ts.isWhileStatement(node) ||
  ts.isTryStatement(node) ||
  ts.isSwitchStatement(node);

function hasEffects(expression: ts.Expression): boolean {
  let has = false;
  const look = (node: ts.Node): void => {
    const isWrite = ts.isBinaryExpression(node) && isAssignment(node);
    if (isWrite || ts.isCallExpression(node) || ts.isAwaitExpression(node) || ts.isPostfixUnaryExpression(node))
      has = true;
    ts.forEachChild(node, look);
  };
  look(expression);
  return has;
}

type Effects = {
  /** Names of variables and of properties, as `#bid`. */
  readonly reads: ReadonlySet<string>;
  readonly writes: ReadonlySet<string>;
  /** It calls something. */
  readonly acts: boolean;
  /** It may leave the statements after it undone. */
  readonly ends: boolean;
};
function effectsOf(statement: ts.Statement, source: ts.SourceFile): Effects {
  const [reads, writes] = [new Set<string>(), new Set<string>()];
  let [acts, ends] = [false, false];
  const look = (node: ts.Node): void => {
    if (ts.isCallExpression(node) || ts.isNewExpression(node) || ts.isAwaitExpression(node)) acts = true;
    if (ts.isReturnStatement(node) || ts.isThrowStatement(node) || ts.isBreakOrContinueStatement(node)) ends = true;
    const name = ts.isPropertyAccessExpression(node) ? node.name.text : ts.isIdentifier(node) ? node.text : undefined;
    if (name !== undefined && ts.isExpression(node) && isTarget(node)) writes.add(name);
    else if (name !== undefined) reads.add(name);
    if (ts.isElementAccessExpression(node) && isTarget(node))
      writes.add(node.expression.getText(source).split('.').at(-1)!);
    ts.forEachChild(node, look);
  };
  look(statement);
  return { reads, writes, acts, ends };
}
