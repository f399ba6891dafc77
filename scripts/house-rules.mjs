// Rules of the house that oxlint has no rule for (docs/architecture.md). Loaded by .oxlintrc.json, which says where
// each applies; tests/house/lint.test.ts shows that each fires.

/** Says nothing about what a thing does, so it grows without end. */
const EMPTY_WORDS = ['manager', 'helper', 'util', 'common', 'misc', 'base', 'service'];

const FILE_NAME = new RegExp(`(^|[-/.])(${EMPTY_WORDS.join('|')})s?\\.ts$`, 'u');

/** `ServiceAccount` is a word of Kubernetes; `AccountService` is an empty one. */
const TYPE_NAME = new RegExp(
  `(${EMPTY_WORDS.map((word) => word[0].toUpperCase() + word.slice(1)).join('|')})s?$|^(Base|Common|Misc)(?=[A-Z])`,
  'u',
);

/** Read at import, these make what a function answers depend on when and where it runs. */
const HIDDEN_INPUTS = ['Date.now', 'Math.random', 'performance.now'];

const HIDDEN_INPUT = 'Time and randomness are arguments; src/app brings them.';

/** Collections that a module would fill as it goes. A frozen one is `new Set([…])`, with its content. */
const COLLECTIONS = ['Map', 'Set', 'WeakMap', 'WeakSet', 'Array'];

const noHiddenInput = {
  create: (context) => ({
    NewExpression(node) {
      if (node.callee.name === 'Date' && node.arguments.length === 0) {
        context.report({ node, message: HIDDEN_INPUT });
      }
    },
    MemberExpression(node) {
      if (HIDDEN_INPUTS.includes(`${node.object.name}.${node.property.name}`)) {
        context.report({ node, message: HIDDEN_INPUT });
      }
    },
  }),
};

const noModuleState = {
  create: (context) => ({
    Program({ body }) {
      const declarations = body
        .map((statement) => statement.declaration ?? statement)
        .filter((statement) => statement.type === 'VariableDeclaration');
      for (const { kind, declarations: variables } of declarations) {
        for (const node of variables) {
          if (kind !== 'const' || isEmptyCollection(node.init)) {
            context.report({ node, message: 'State belongs to an object that compose.ts builds.' });
          }
        }
      }
    },
  }),
};

function isEmptyCollection(init) {
  return (
    init?.type === 'NewExpression' &&
    init.arguments.length === 0 &&
    COLLECTIONS.includes(init.callee.name)
  );
}

const headerComment = {
  create: (context) => ({
    Program(node) {
      if (!/^(#!.*\n)?(\/\/|\/\*)/u.test(context.sourceCode.text)) {
        context.report({
          node,
          message: 'A file opens with what it is for and what it leaves to whom.',
        });
      }
    },
  }),
};

const tellingNames = {
  create(context) {
    const check = (node) => {
      if (TYPE_NAME.test(node.id?.name ?? '')) {
        context.report({
          node,
          message: `The name ${node.id.name} says nothing: see docs/glossary.md.`,
        });
      }
    };
    return {
      Program(node) {
        if (FILE_NAME.test(context.filename)) {
          context.report({
            node,
            message: 'The name of this file says nothing: see docs/glossary.md.',
          });
        }
      },
      ClassDeclaration: check,
      TSInterfaceDeclaration: check,
      TSTypeAliasDeclaration: check,
    };
  },
};

export default {
  meta: { name: 'house' },
  rules: {
    'header-comment': headerComment,
    'no-hidden-input': noHiddenInput,
    'no-module-state': noModuleState,
    'telling-names': tellingNames,
  },
};
