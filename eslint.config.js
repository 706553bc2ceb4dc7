// Lint rules: strict types everywhere; no clock, dice, timer or network outside the files that own them.
import tseslint from 'typescript-eslint';

const outsideWorld = [
  { object: 'Date', property: 'now', message: 'Take the time from the injected Clock.' },
  { object: 'performance', property: 'now', message: 'Take the time from the injected Clock.' },
  { object: 'Math', property: 'random', message: 'Take randomness from the injected Random.' },
  { object: 'crypto', property: 'randomUUID', message: 'Take randomness from the injected Random.' },
  { object: 'process', property: 'hrtime', message: 'Take the time from the injected Clock.' },
];

export default tseslint.config(
  { ignores: ['website/', 'dist/', 'coverage/', 'node_modules/', '*.js', 'config/'] },
  ...tseslint.configs.recommendedTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/no-unsafe-unary-minus': 'off',
      eqeqeq: 'error',
      'prefer-const': 'error',
    },
  },
  {
    files: ['src/**/*.ts', 'strategies/**/*.ts', 'backtest/**/*.ts'],
    rules: { 'max-lines-per-function': ['error', { max: 80, skipComments: true }] },
  },
  {
    files: ['src/**/*.ts', 'strategies/**/*.ts', 'backtest/**/*.ts'],
    ignores: ['src/main.ts', 'src/live/realClock.ts', 'src/core/ports/virtualClock.ts', 'src/app/**', 'src/cli/**'],
    rules: {
      'no-restricted-properties': ['error', ...outsideWorld],
      'no-restricted-globals': ['error', 'setTimeout', 'setInterval', 'setImmediate', 'fetch', 'performance'],
    },
  },
);
