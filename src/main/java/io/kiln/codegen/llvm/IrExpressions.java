// SPDX-License-Identifier: Apache-2.0
package io.kiln.codegen.llvm;

import io.kiln.base.DType;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Expr.Binary;
import io.kiln.tir.Expr.BinaryOp;
import java.util.ArrayList;
import java.util.List;

/** Prints the instructions that compute expressions, with C's promotions. */
record IrExpressions(IrFunction out, IrScope scope, IrCalls calls) {
    /** Computes an expression; bool stays bool. */
    IrValue value(Expr expr) {
        if (expr instanceof Expr.IntImm literal) {
            return literal(literal);
        }
        if (expr instanceof Expr.FloatImm literal) {
            return new IrValue(DType.FLOAT32, IrConstant.ofFloat(Float.floatToRawIntBits(literal.value())));
        }
        if (expr instanceof Expr.Var variable) {
            return variable(variable);
        }
        if (expr instanceof Expr.Load load) {
            return load(load);
        }
        if (expr instanceof Expr.Cast cast) {
            return promoted(cast.dtype(), converted(value(cast.value()), cast.dtype()));
        }
        if (expr instanceof Expr.Select select) {
            return select(select);
        }
        if (expr instanceof Expr.Call call) {
            return call(call);
        }
        return binary((Binary) expr);
    }

    /** Computes an expression as a number: bool becomes int32. */
    IrValue number(Expr expr) {
        IrValue value = value(expr);
        return value.dtype() == DType.BOOL
                ? new IrValue(DType.INT32, out.result("zext i1 " + value.text() + " to i32"))
                : value;
    }

    /** Computes a condition. */
    String condition(Expr expr) {
        return converted(value(expr), DType.BOOL);
    }

    /** Computes an expression as an element of a type, without promotion: what is stored or handed over. */
    String element(Expr expr, DType dtype) {
        return converted(value(expr), dtype);
    }

    /** Jumps by a condition, with short-circuit evaluation. */
    void branch(Expr condition, String then, String otherwise) {
        if (condition instanceof Binary both && (both.op() == BinaryOp.AND || both.op() == BinaryOp.OR)) {
            boolean isAnd = both.op() == BinaryOp.AND;
            String second = out.unique(isAnd ? "and" : "or");
            branch(both.a(), isAnd ? second : then, isAnd ? otherwise : second);
            out.begin(second);
            branch(both.b(), then, otherwise);
        } else {
            out.line("br i1 " + condition(condition) + ", label %" + then + ", label %" + otherwise);
        }
    }

    /** The address of an element. */
    String address(Buffer buffer, Expr index) {
        String base = scope.pointer(buffer);
        if (index instanceof Expr.IntImm zero && zero.value() == 0) {
            return base;
        }
        IrValue at = number(index);
        // An index is signed for LLVM, whatever it is in C.
        String wide =
                at.dtype() == DType.UINT32 ? "i64 " + out.result("zext i32 " + at.text() + " to i64") : at.typed();
        return out.result("getelementptr inbounds " + IrType.inMemory(buffer.dtype()) + ", ptr " + base + ", " + wide);
    }

    private static IrValue literal(Expr.IntImm literal) {
        DType dtype = IrType.promoted(literal.dtype());
        if (dtype == DType.BOOL) {
            return new IrValue(dtype, literal.value() != 0 ? "true" : "false");
        }
        return new IrValue(dtype, Long.toString(dtype == DType.UINT32 ? (int) literal.value() : literal.value()));
    }

    private IrValue variable(Expr.Var variable) {
        IrScope.Scalar scalar = scope.scalar(variable.name());
        if (!scalar.mutable()) {
            return promoted(scalar.dtype(), scalar.text());
        }
        return loaded(scalar.dtype(), scalar.text());
    }

    private IrValue load(Expr.Load load) {
        return loaded(load.buffer().dtype(), address(load.buffer(), load.index()));
    }

    private IrValue loaded(DType dtype, String address) {
        String type = IrType.inMemory(dtype);
        String more = ", align " + dtype.bytes() + IrMetadata.access(dtype);
        String loaded = out.result(
                "load " + type + ", ptr " + address + more + (dtype == DType.BOOL ? IrMetadata.range() : ""));
        return promoted(dtype, dtype == DType.BOOL ? out.result("trunc i8 " + loaded + " to i1") : loaded);
    }

    /** Widens a narrow integer. */
    private IrValue promoted(DType dtype, String element) {
        DType wide = IrType.promoted(dtype);
        if (wide == dtype) {
            return new IrValue(dtype, element);
        }
        String extend = IrType.isUnsigned(dtype) ? "zext " : "sext ";
        return new IrValue(wide, out.result(extend + IrType.inMemory(dtype) + " " + element + " to i32"));
    }

    /** C's conversion to an element type, without promotion. */
    private String converted(IrValue from, DType to) {
        String type = IrType.ofScalar(to);
        boolean unsigned = IrType.isUnsigned(from.dtype());
        if (from.dtype() == to || (from.type().equals(type) && to != DType.BOOL)) {
            return from.text();
        }
        if (to == DType.BOOL) {
            String zero =
                    from.dtype().isFloat() ? "fcmp une " + from.typed() + ", 0.0" : "icmp ne " + from.typed() + ", 0";
            return out.result(zero);
        }
        String instruction;
        if (from.dtype().isFloat()) {
            instruction = IrType.isUnsigned(to) ? "fptoui" : "fptosi";
        } else if (to.isFloat()) {
            instruction = unsigned ? "uitofp" : "sitofp";
        } else if (from.dtype() != DType.BOOL && IrType.bits(to) < IrType.bits(from.dtype())) {
            instruction = "trunc";
        } else {
            instruction = unsigned ? "zext" : "sext";
        }
        return out.result(instruction + " " + from.typed() + " to " + type);
    }

    private IrValue call(Expr.Call call) {
        List<String> arguments = new ArrayList<>();
        for (int i = 0; i < call.args().size(); i++) {
            DType parameter = call.intrinsic().parameters().get(i);
            arguments.add(calls.argument(parameter, element(call.args().get(i), parameter)));
        }
        DType result = call.intrinsic().result();
        return promoted(result, out.result("call " + calls.intrinsic(call.intrinsic(), arguments)));
    }

    /** Selects a value as clang does: if both operands are literals or variables, both are evaluated; otherwise only the selected one. */
    private IrValue select(Expr.Select select) {
        if (isCheap(select.then()) && isCheap(select.otherwise())) {
            String condition = condition(select.condition());
            String then = as(select.dtype(), select.then());
            String otherwise = as(select.dtype(), select.otherwise());
            String type = IrType.ofScalar(select.dtype());
            return new IrValue(
                    select.dtype(),
                    out.result("select i1 " + condition + ", " + type + " " + then + ", " + type + " " + otherwise));
        }
        String thenBlock = out.unique("cond.true");
        String elseBlock = out.unique("cond.false");
        String end = out.unique("cond.end");
        branch(select.condition(), thenBlock, elseBlock);
        out.begin(thenBlock);
        String then = as(select.dtype(), select.then());
        String thenFrom = out.block();
        out.jump(end);
        out.begin(elseBlock);
        String otherwise = as(select.dtype(), select.otherwise());
        String elseFrom = out.block();
        out.fallInto(end);
        return new IrValue(select.dtype(), phi(IrType.ofScalar(select.dtype()), then, thenFrom, otherwise, elseFrom));
    }

    private String phi(String type, String first, String firstFrom, String second, String secondFrom) {
        return out.result(
                "phi " + type + " [ " + first + ", %" + firstFrom + " ], [ " + second + ", %" + secondFrom + " ]");
    }

    private String as(DType dtype, Expr expr) {
        return converted(value(expr), dtype);
    }

    private static boolean isCheap(Expr expr) {
        return expr instanceof Expr.IntImm || expr instanceof Expr.FloatImm || expr instanceof Expr.Var;
    }

    private IrValue binary(Binary binary) {
        return switch (binary.op()) {
            case AND, OR -> logic(binary);
            case LT, GT, LE, GE, EQ, NE -> comparison(binary);
            case SHL, SHR -> shift(binary);
            case ADD, SUB -> sum(binary);
            case MUL, DIV, MOD, BIT_AND, BIT_XOR, BIT_OR -> {
                IrValue a = number(binary.a());
                yield operation(binary.op(), a, number(binary.b()));
            }
        };
    }

    private IrValue logic(Binary binary) {
        boolean isAnd = binary.op() == BinaryOp.AND;
        String second = out.unique(isAnd ? "and" : "or");
        String end = out.unique(isAnd ? "and.end" : "or.end");
        String first = condition(binary.a());
        String from = out.block();
        String goOn = "label %" + second;
        String stop = "label %" + end;
        out.line("br i1 " + first + ", " + (isAnd ? goOn : stop) + ", " + (isAnd ? stop : goOn));
        out.begin(second);
        String last = condition(binary.b());
        String lastFrom = out.block();
        out.fallInto(end);
        return new IrValue(DType.BOOL, phi(IrType.CONDITION, isAnd ? "false" : "true", from, last, lastFrom));
    }

    private IrValue comparison(Binary binary) {
        IrValue a = number(binary.a());
        IrValue b = number(binary.b());
        String compare = IrOperators.comparison(binary.op(), a.dtype());
        return new IrValue(DType.BOOL, out.result(compare + " " + a.typed() + ", " + b.text()));
    }

    /** Shifts an operand, whose type is that of the result; LLVM requires both operands to have it. */
    private IrValue shift(Binary binary) {
        IrValue a = number(binary.a());
        IrValue by = number(binary.b());
        String amount = converted(new IrValue(by.dtype(), by.text()), a.dtype());
        String instruction = IrOperators.shift(binary.op(), a.dtype());
        return new IrValue(a.dtype(), out.result(instruction + " " + a.typed() + ", " + amount));
    }

    /**
     * A sum of integers is computed from left to right, as C reads what the C printer writes: intermediate sums are those that C has, so that
     * none overflows that does not overflow in C.
     */
    private IrValue sum(Binary binary) {
        IrValue total = number(binary.a());
        return binary.op() == BinaryOp.ADD && total.dtype().isInteger() && isSum(binary.b())
                ? chained(total, (Binary) binary.b())
                : operation(binary.op(), total, number(binary.b()));
    }

    /** A total plus a sum, term by term. */
    private IrValue chained(IrValue total, Binary sum) {
        IrValue first =
                isSum(sum.a()) ? chained(total, (Binary) sum.a()) : operation(BinaryOp.ADD, total, number(sum.a()));
        if (sum.op() == BinaryOp.ADD && isSum(sum.b())) {
            return chained(first, (Binary) sum.b());
        }
        return operation(sum.op(), first, number(sum.b()));
    }

    /** Whether C's printer writes it without parentheses behind a plus; a negation stays by itself. */
    private static boolean isSum(Expr expr) {
        return expr instanceof Binary sum
                && (sum.op() == BinaryOp.ADD
                        || (sum.op() == BinaryOp.SUB && !(sum.a() instanceof Expr.IntImm zero && zero.value() == 0)));
    }

    private IrValue operation(BinaryOp op, IrValue a, IrValue b) {
        return new IrValue(
                a.dtype(), out.result(IrOperators.arithmetic(op, a.dtype()) + " " + a.typed() + ", " + b.text()));
    }

    /**
     * Prints the instructions of LLVM IR for operators. Sums and products of signed integers are {@code nsw}: in C their overflow is
     * undefined, and the loop IR has the rules of C. Unsigned ones wrap, and shifts to the left drop bits.
     */
    private static final class IrOperators {
        private IrOperators() {}

        static String arithmetic(BinaryOp op, DType dtype) {
            if (dtype.isFloat()) {
                return switch (op) {
                    case ADD -> "fadd";
                    case SUB -> "fsub";
                    case MUL -> "fmul";
                    case DIV -> "fdiv";
                    default -> throw new IllegalArgumentException(op + " of float32");
                };
            }
            boolean unsigned = IrType.isUnsigned(dtype);
            return switch (op) {
                case ADD -> unsigned ? "add" : "add nsw";
                case SUB -> unsigned ? "sub" : "sub nsw";
                case MUL -> unsigned ? "mul" : "mul nsw";
                case DIV -> unsigned ? "udiv" : "sdiv";
                case MOD -> unsigned ? "urem" : "srem";
                case BIT_AND -> "and";
                case BIT_XOR -> "xor";
                case BIT_OR -> "or";
                default -> throw new IllegalArgumentException(op + " is not an arithmetic operator");
            };
        }

        static String shift(BinaryOp op, DType dtype) {
            return op == BinaryOp.SHL ? "shl" : IrType.isUnsigned(dtype) ? "lshr" : "ashr";
        }

        /** Comparisons with NaN are false, but for "not equal". */
        static String comparison(BinaryOp op, DType dtype) {
            String order = dtype.isFloat() ? "o" : IrType.isUnsigned(dtype) ? "u" : "s";
            String name = switch (op) {
                case LT -> order + "lt";
                case GT -> order + "gt";
                case LE -> order + "le";
                case GE -> order + "ge";
                case EQ -> dtype.isFloat() ? "oeq" : "eq";
                case NE -> dtype.isFloat() ? "une" : "ne";
                default -> throw new IllegalArgumentException(op + " compares nothing");
            };
            return (dtype.isFloat() ? "fcmp " : "icmp ") + name;
        }
    }

    /**
     * A value in a register, or a constant.
     *
     * @param dtype promoted type: bool, an integer of 32 or 64 bits, or float32
     * @param text its name or the constant, without the type
     */
    record IrValue(DType dtype, String text) {
        String type() {
            return IrType.ofScalar(dtype);
        }

        /** The value with its type, as operands are written. */
        String typed() {
            return type() + " " + text;
        }
    }
}
