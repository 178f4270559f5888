// SPDX-License-Identifier: Apache-2.0
package io.kiln.tir;

import io.kiln.base.CText;
import io.kiln.base.DType;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Prints functions of the loop IR for people: expressions as in C, types after names as in Relay text. Unlike the
 * generated C, the text shows the scope of every buffer and omits tables' data and micro-kernels' definitions.
 */
public final class TirPrinter {
    /** The significand bits of a float. */
    private static final int MANTISSA = 0x7FFFFF;

    private static final ExprText EXPRESSIONS = new ExprText(new TirNotation());

    private final StringBuilder out = new StringBuilder();
    private int depth;

    private TirPrinter() {}

    /** The function's text, ended by a newline. */
    public static String print(PrimFunc func) {
        TirPrinter printer = new TirPrinter();
        printer.line("// " + CText.comment(func.comment()));
        String parameters = Stream.concat(
                        func.buffers().stream()
                                .map(b -> b.name() + ": " + b.scope().name().toLowerCase(Locale.ROOT) + " " + type(b)),
                        func.scalars().stream().map(TirPrinter::typed))
                .collect(Collectors.joining(", "));
        printer.line("def " + func.name() + "(" + parameters + ") {");
        printer.depth++;
        func.constants()
                .forEach(t -> printer.line(t.buffer().name() + ": table " + type(t.buffer()) + " = " + t.symbol()));
        printer.body(func.body());
        printer.depth--;
        printer.line("}");
        return printer.out.toString();
    }

    private static String type(Buffer buffer) {
        return buffer.dtype().text() + (buffer.elements() == 0 ? "[]" : "[" + buffer.elements() + "]");
    }

    private static String typed(Expr.Var variable) {
        return variable.name() + ": " + variable.dtype().text();
    }

    private static String text(Expr expr) {
        return EXPRESSIONS.print(expr);
    }

    private void line(String text) {
        out.append("  ".repeat(depth)).append(text).append('\n');
    }

    private void body(Stmt stmt) {
        if (stmt instanceof Stmt.Block block) {
            block.statements().forEach(this::statement);
        } else {
            statement(stmt);
        }
    }

    private void nested(String head, Stmt body) {
        line(head + " {");
        depth++;
        body(body);
        depth--;
        line("}");
    }

    private void statement(Stmt stmt) {
        if (stmt instanceof Stmt.Block block) {
            nested("block", block);
        } else if (stmt instanceof Stmt.For loop) {
            String step = loop.step() == 1 ? "" : ", " + loop.step();
            nested(
                    "for " + loop.variable().name() + " in range(" + text(loop.begin()) + ", " + text(loop.end()) + step
                            + ")",
                    loop.body());
        } else if (stmt instanceof Stmt.While loop) {
            nested("while " + text(loop.condition()), loop.body());
        } else if (stmt instanceof Stmt.If branch) {
            nested("if " + text(branch.condition()), branch.then());
            branch.otherwise().ifPresent(otherwise -> nested("else", otherwise));
        } else if (stmt instanceof Stmt.Switch choice) {
            choose(choice);
        } else {
            line(simple(stmt));
        }
    }

    private void choose(Stmt.Switch choice) {
        line("switch " + text(choice.value()) + " {");
        depth++;
        for (int i = 0; i < choice.cases().size(); i++) {
            nested("case " + i, choice.cases().get(i));
        }
        depth--;
        line("}");
    }

    private static String simple(Stmt stmt) {
        if (stmt instanceof Stmt.Comment comment) {
            return "// " + CText.comment(comment.text());
        }
        if (stmt instanceof Stmt.Declare declare) {
            return (declare.mutable() ? "var " : "let ") + typed(declare.variable()) + " = " + text(declare.value());
        }
        if (stmt instanceof Stmt.Assign assign) {
            return assign.variable().name() + " = " + text(assign.value());
        }
        if (stmt instanceof Stmt.DeclareView view) {
            return view.view().name() + ": " + (view.view().isWritable() ? "mutable " : "") + "view "
                    + type(view.view()) + " = &" + view.base().name() + "[" + text(view.offset()) + "]";
        }
        if (stmt instanceof Stmt.Store store) {
            return store.buffer().name() + "[" + text(store.index()) + "] = " + text(store.value());
        }
        if (stmt instanceof Stmt.Copy copy) {
            return "copy(" + copy.to().name() + ", " + copy.from().name() + ", " + copy.bytes() + ")";
        }
        return stmt instanceof Stmt.CallKernel call
                ? call(call.kernel().name(), call.pointers(), call.scalars())
                : callFunction((Stmt.CallFunction) stmt);
    }

    private static String callFunction(Stmt.CallFunction call) {
        return call(call.function(), call.arguments(), call.scalars());
    }

    private static String call(String function, List<Buffer> pointers, List<Expr> scalars) {
        List<String> arguments = new ArrayList<>();
        pointers.forEach(b -> arguments.add(b.name()));
        scalars.forEach(s -> arguments.add(text(s)));
        return "call " + function + "(" + String.join(", ", arguments) + ")";
    }

    private static final class TirNotation implements ExprText.Notation {
        @Override
        public String integer(Expr.IntImm literal) {
            return switch (literal.dtype()) {
                case INT64 -> literal.value() + "i64";
                case UINT32 -> literal.value() + "u32";
                case UINT64 -> Long.toUnsignedString(literal.value()) + "u64";
                default -> Long.toString(literal.value());
            };
        }

        @Override
        public String real(Expr.FloatImm literal) {
            float value = literal.value();
            if (Float.isFinite(value)) {
                return Float.toString(value).replace("E", "e") + "f";
            }
            int bits = Float.floatToRawIntBits(value);
            return Float.isNaN(value)
                    ? (bits < 0 ? "-" : "") + String.format(Locale.ROOT, "nan(0x%x)", bits & MANTISSA)
                    : value < 0 ? "-inf" : "inf";
        }

        @Override
        public String type(DType dtype) {
            return dtype.text();
        }
    }

    /** Prints expressions with as few parentheses as C's precedences (and compilers' warnings) allow. */
    public record ExprText(Notation notation) {
        private static final int TERNARY = 3;
        private static final int UNARY = 14;
        private static final int PRIMARY = 16;

        /** The form of literals and types in a language. */
        public interface Notation {
            String integer(Expr.IntImm literal);

            String real(Expr.FloatImm literal);

            String type(DType dtype);
        }

        /** The expression's text. */
        public String print(Expr expr) {
            return print(expr, 0);
        }

        private String print(Expr expr, int context) {
            String text = text(expr);
            return precedence(expr) < context ? "(" + text + ")" : text;
        }

        private static int precedence(Expr expr) {
            if (expr instanceof Expr.Binary binary) {
                return binary.op().precedence();
            }
            if (expr instanceof Expr.Select) {
                return TERNARY;
            }
            if (expr instanceof Expr.Cast) {
                return UNARY;
            }
            boolean negative = (expr instanceof Expr.IntImm i && i.value() < 0 && i.dtype() != DType.UINT64)
                    || (expr instanceof Expr.FloatImm f && isNegative(f.value()));
            return negative ? UNARY : PRIMARY;
        }

        /** Whether a minus stands in front; NaN may have a sign too. */
        private static boolean isNegative(float value) {
            return value < 0 || (Float.isNaN(value) && Float.floatToRawIntBits(value) < 0);
        }

        private String text(Expr expr) {
            if (expr instanceof Expr.IntImm imm) {
                return notation.integer(imm);
            }
            if (expr instanceof Expr.FloatImm imm) {
                return notation.real(imm);
            }
            if (expr instanceof Expr.Var variable) {
                return variable.name();
            }
            if (expr instanceof Expr.Load load) {
                return load.buffer().name() + "[" + print(load.index()) + "]";
            }
            if (expr instanceof Expr.Cast cast) {
                return "(" + notation.type(cast.dtype()) + ")" + print(cast.value(), UNARY);
            }
            if (expr instanceof Expr.Select select) {
                return print(select.condition(), TERNARY + 1) + " ? " + print(select.then(), TERNARY + 1) + " : "
                        + print(select.otherwise(), TERNARY + 1);
            }
            if (expr instanceof Expr.Call call) {
                return call.intrinsic().name()
                        + call.args().stream().map(this::print).collect(Collectors.joining(", ", "(", ")"));
            }
            return binary((Expr.Binary) expr);
        }

        private String binary(Expr.Binary binary) {
            int precedence = binary.op().precedence();
            int left = precedence;
            boolean integerSum =
                    binary.op() == Expr.BinaryOp.ADD && binary.dtype().isInteger();
            int right = integerSum ? precedence : precedence + 1;
            if (isClearerInParentheses(binary.op())) {
                left = UNARY;
                right = UNARY;
            }
            if (binary.op() == Expr.BinaryOp.SUB && binary.a() instanceof Expr.IntImm zero && zero.value() == 0) {
                return "-" + print(binary.b(), UNARY + 1);
            }
            return print(binary.a(), left) + " " + binary.op().symbol() + " " + print(binary.b(), right);
        }

        /** Operators whose precedence is easily mistaken. */
        private static boolean isClearerInParentheses(Expr.BinaryOp op) {
            return switch (op) {
                case SHL, SHR, BIT_AND, BIT_XOR, BIT_OR, OR -> true;
                default -> false;
            };
        }
    }
}
