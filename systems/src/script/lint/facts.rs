//! What a compiled file says, taken down in one walk over it.

use std::collections::BTreeSet;

use rhai::{
    AST, ASTFlags, ASTNode, Array, Dynamic, Expr, FnAccess, FnCallExpr, ImmutableString, Map, Position, Stmt,
};

/// The variable in which a resource keeps what lives on.
pub(super) const STATE: &str = "state";

/// A call as it is written.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) position: Position,
    /// `lib::teams` of `lib::teams::join(player)`; empty for a plain call.
    pub(super) module: String,
    pub(super) name: String,
    pub(super) arguments: usize,
    /// Whether it is written after a dot.
    pub(super) method: bool,
}

#[derive(Debug)]
pub(super) struct Import {
    pub(super) position: Position,
    /// `None` when it is not a plain string.
    pub(super) path: Option<String>,
    pub(super) alias: String,
}

/// A statement outside functions that does not belong there.
#[derive(Debug)]
pub(super) enum TopLevel {
    Let(String),
    Statement,
}

#[derive(Debug, Default)]
pub(super) struct Facts {
    pub(super) top_level: Vec<(Position, TopLevel)>,
    pub(super) imports: Vec<Import>,
    pub(super) calls: Vec<Call>,
    /// Properties read or assigned, by their place.
    pub(super) properties: Vec<(Position, String)>,
    pub(super) state_assignments: Vec<Position>,
    pub(super) variables: BTreeSet<String>,
    /// Functions that are private to the file.
    pub(super) private: BTreeSet<String>,
    pub(super) keys: BTreeSet<String>,
    pub(super) used: BTreeSet<String>,
}

impl Facts {
    pub(super) fn of(ast: &AST) -> Self {
        let mut facts = Self::default();
        for statement in ast.statements() {
            facts.top_level_statement(statement);
        }
        for function in ast.iter_functions() {
            facts
                .variables
                .extend(function.params.iter().map(|&name| name.to_owned()));
            if function.access == FnAccess::Private {
                facts.private.insert(function.name.to_owned());
            }
        }
        ast.walk(&mut |path: &[ASTNode<'_>]| {
            match path.last() {
                Some(ASTNode::Stmt(statement)) => facts.statement(statement),
                Some(ASTNode::Expr(expression)) => facts.expression(expression),
                _ => {}
            }
            true
        });
        facts
    }

    fn top_level_statement(&mut self, statement: &Stmt) {
        let fault = match statement {
            Stmt::Var(_, flags, _) if flags.contains(ASTFlags::CONSTANT) => return,
            Stmt::Var(parts, _, _) => TopLevel::Let(parts.0.name.to_string()),
            Stmt::Import(..) | Stmt::Export(..) | Stmt::Noop(_) | Stmt::Share(_) => return,
            _ => TopLevel::Statement,
        };
        self.top_level.push((statement.position(), fault));
    }

    fn statement(&mut self, statement: &Stmt) {
        match statement {
            Stmt::FnCall(call, position) => self.call(call, *position, false),
            Stmt::Import(parts, _) => {
                let (path, alias) = &**parts;
                self.imports.push(Import {
                    position: path.position(),
                    path: match path {
                        Expr::StringConstant(path, _) => Some(path.to_string()),
                        _ => None,
                    },
                    alias: alias.name.to_string(),
                });
            }
            Stmt::Var(parts, ..) => {
                self.variables.insert(parts.0.name.to_string());
            }
            Stmt::For(parts, _) => {
                self.variables.insert(parts.0.name.to_string());
                self.variables
                    .extend(parts.1.as_ref().map(|counter| counter.name.to_string()));
            }
            Stmt::TryCatch(parts, _) => self.catch_variable(&parts.expr),
            Stmt::Assignment(parts) => {
                let (operator, sides) = &**parts;
                self.assignment(&sides.lhs, operator.is_op_assignment());
            }
            _ => {}
        }
    }

    fn catch_variable(&mut self, expression: &Expr) {
        if let Expr::Variable(parts, ..) = expression {
            self.variables.insert(parts.1.to_string());
        }
    }

    fn assignment(&mut self, target: &Expr, with_operator: bool) {
        match target {
            Expr::Variable(parts, _, position)
                if !with_operator && parts.1.as_str() == STATE && parts.2.is_empty() =>
            {
                self.state_assignments.push(*position);
            }
            // Keys can be made by assignment at every step of `state.scores.red = 1`.
            Expr::Dot(..) | Expr::Index(..) => {
                target.walk(&mut Vec::new(), &mut |path: &[ASTNode<'_>]| {
                    if let Some(ASTNode::Expr(Expr::Property(parts, _))) = path.last() {
                        self.keys.insert(parts.2.to_string());
                    }
                    true
                });
            }
            _ => {}
        }
    }

    fn expression(&mut self, expression: &Expr) {
        match expression {
            Expr::FnCall(call, position) => self.call(call, *position, false),
            Expr::MethodCall(call, position) => self.call(call, *position, true),
            Expr::Property(parts, position) => {
                self.properties.push((*position, parts.2.to_string()));
            }
            Expr::Variable(parts, ..) => {
                self.used.insert(parts.1.to_string());
            }
            Expr::Map(parts, _) => {
                self.keys
                    .extend(parts.0.iter().map(|(key, _)| key.name.to_string()));
                self.keys.extend(parts.1.keys().map(ToString::to_string));
            }
            Expr::StringConstant(text, _) => self.text(text),
            Expr::DynamicConstant(value, _) => self.constant(value, DEEPEST_CONSTANT),
            _ => {}
        }
    }

    fn call(&mut self, call: &FnCallExpr, position: Position, method: bool) {
        if call.is_operator_call() {
            return;
        }
        let module: Vec<&str> = call
            .namespace
            .path
            .iter()
            .map(|part| part.name.as_str())
            .collect();
        self.used.insert(call.name.to_string());
        self.calls.push(Call {
            position: if module.is_empty() {
                position
            } else {
                call.namespace.position()
            },
            module: module.join("::"),
            name: call.name.to_string(),
            arguments: call.args.len(),
            method,
        });
    }

    /// Words of a string may be keys, columns of a query, or the name of a function.
    fn text(&mut self, text: &str) {
        let words = text.split(|c: char| c != '_' && !c.is_alphanumeric());
        for word in words.filter(|word| !word.is_empty()) {
            self.keys.insert(word.to_owned());
            self.used.insert(word.to_owned());
        }
    }

    fn constant(&mut self, value: &Dynamic, depth_left: usize) {
        let Some(depth_left) = depth_left.checked_sub(1) else {
            return;
        };
        if let Some(text) = value.read_lock::<ImmutableString>() {
            self.text(&text);
        } else if let Some(array) = value.read_lock::<Array>() {
            for item in array.iter() {
                self.constant(item, depth_left);
            }
        } else if let Some(map) = value.read_lock::<Map>() {
            for (key, item) in map.iter() {
                self.keys.insert(key.to_string());
                self.constant(item, depth_left);
            }
        } else if let Some(function) = value.read_lock::<rhai::FnPtr>() {
            self.used.insert(function.fn_name().to_owned());
        }
    }
}

/// Constants are literals, and those nest no deeper than the parser lets them.
const DEEPEST_CONSTANT: usize = 64;
