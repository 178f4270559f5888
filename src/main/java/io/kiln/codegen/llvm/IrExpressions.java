// SPDX-License-Identifier: Apache-2.0
package io.kiln.codegen.llvm;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.codegen.PackedApi;
import io.kiln.codegen.c.CalledC;
import io.kiln.codegen.llvm.IrFunction.IrMetadata;
import io.kiln.codegen.llvm.IrFunction.IrScope;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Expr.Binary;
import io.kiln.tir.Expr.BinaryOp;
import io.kiln.tir.Exprs;
import io.kiln.tir.Intrinsic;
import io.kiln.tir.Kernel;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.StringJoiner;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

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
        String compare = comparison(binary.op(), a.dtype());
        return new IrValue(DType.BOOL, out.result(compare + " " + a.typed() + ", " + b.text()));
    }

    /** Shifts an operand, whose type is that of the result; LLVM requires both operands to have it. */
    private IrValue shift(Binary binary) {
        IrValue a = number(binary.a());
        IrValue by = number(binary.b());
        String amount = converted(new IrValue(by.dtype(), by.text()), a.dtype());
        String instruction = shift(binary.op(), a.dtype());
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
        return new IrValue(a.dtype(), out.result(arithmetic(op, a.dtype()) + " " + a.typed() + ", " + b.text()));
    }

    private static String arithmetic(BinaryOp op, DType dtype) {
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

    private static String shift(BinaryOp op, DType dtype) {
        return op == BinaryOp.SHL ? "shl" : IrType.isUnsigned(dtype) ? "lshr" : "ashr";
    }

    /** Comparisons with NaN are false, but for "not equal". */
    private static String comparison(BinaryOp op, DType dtype) {
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

    /** Prints calls in LLVM IR, and the declarations that they need. */
    static final class IrCalls {
        private final int bits;
        private final PackedApi packed;
        private final Set<String> defined;
        private final Map<String, String> declarations = new TreeMap<>();

        /**
         * @param bits width of a general register
         * @param packed functions that are called by way of C
         * @param defined names of the functions that the module defines
         */
        IrCalls(int bits, PackedApi packed, Set<String> defined) {
            this.bits = bits;
            this.packed = packed;
            this.defined = defined;
        }

        /** A scalar handed over. */
        String argument(DType dtype, String value) {
            return IrType.parameter(dtype, bits) + " " + value;
        }

        /** A pointer handed over. */
        static String pointer(String address) {
            return "ptr noundef " + address;
        }

        String intrinsic(Intrinsic intrinsic, List<String> arguments) {
            String parameters = intrinsic.parameters().stream()
                    .map(p -> IrType.parameter(p, bits))
                    .collect(Collectors.joining(", "));
            String type = IrType.ofScalar(intrinsic.result());
            String name = CalledC.name(intrinsic);
            declarations.put(name, "declare " + type + " @" + name + "(" + parameters + ")");
            return type + " @" + name + "(" + String.join(", ", arguments) + ")";
        }

        String kernel(Kernel kernel, List<String> arguments) {
            String type = kernel.fails() ? "i32" : "void";
            declare(type, kernel.name(), kernel.pointers().size(), kernel.scalars());
            return type + " @" + kernel.name() + "(" + String.join(", ", arguments) + ")";
        }

        /** A call of a function of the loop IR. */
        String function(String function, int pointers, List<String> arguments) {
            String name = packed.find(function).isPresent() ? CalledC.caller(function) : function;
            if (!defined.contains(name)) {
                declare("i32", name, pointers, Collections.nCopies(arguments.size() - pointers, DType.INT32));
            }
            return "i32 @" + name + "(" + String.join(", ", arguments) + ")";
        }

        private void declare(String type, String name, int pointers, List<DType> scalars) {
            String parameters = Stream.concat(
                            Collections.nCopies(pointers, "ptr noundef").stream(),
                            scalars.stream().map(scalar -> IrType.parameter(scalar, bits)))
                    .collect(Collectors.joining(", "));
            declarations.put(name, "declare " + type + " @" + name + "(" + parameters + ")");
        }

        /** Copies bytes; {@code memcpy} of the C library unless the size is small. */
        void copies() {
            declarations.put("llvm.memcpy", "declare void @" + copy() + "(ptr, ptr, i" + bits + ", i1)");
        }

        /** The name of the intrinsic function that copies bytes. */
        String copy() {
            return "llvm.memcpy.p0.p0.i" + bits;
        }

        int bits() {
            return bits;
        }

        /** All declarations, by name. */
        String text() {
            return declarations.values().stream().map(line -> line + "\n").collect(Collectors.joining());
        }
    }

    /** Types of LLVM for element types: as they lie in memory, and as values. Signs are properties of instructions, not of types. */
    static final class IrType {
        static final String CONDITION = "i1";

        private static final int BYTE = 8;

        private IrType() {}

        /** The type of an element in memory. */
        static String inMemory(DType dtype) {
            return dtype.isFloat() ? "float" : "i" + bits(dtype);
        }

        /** The type of a scalar with this element type, before promotion. */
        static String ofScalar(DType dtype) {
            return dtype == DType.BOOL ? CONDITION : inMemory(dtype);
        }

        /** The element type in which C computes with it; bool stays bool as long as nothing is computed. */
        static DType promoted(DType dtype) {
            return dtype == DType.BOOL ? dtype : Exprs.promote(dtype, dtype);
        }

        /** Width of an element in memory. */
        static int bits(DType dtype) {
            return dtype.bytes() * BYTE;
        }

        /** Whether an element widens with zeros. */
        static boolean isUnsigned(DType dtype) {
            return switch (dtype) {
                case UINT8, UINT32, UINT64, BOOL -> true;
                case INT8, INT16, INT32, INT64, FLOAT32 -> false;
            };
        }

        /**
         * How a parameter is handed over: calling conventions widen narrow integers in the caller, and callees rely on it.
         *
         * @param bits width of a general register
         */
        static String parameter(DType dtype, int bits) {
            String extension =
                    dtype.isFloat() || bits(dtype) >= Integer.SIZE ? "" : isUnsigned(dtype) ? " zeroext" : " signext";
            boolean isWord = bits > Integer.SIZE && dtype.isInteger() && bits(dtype) == Integer.SIZE;
            return ofScalar(dtype) + " noundef" + (isWord ? "" : extension);
        }
    }

    /** Prints constants in LLVM IR, exact to the bit. */
    static final class IrConstant {
        private static final int MANTISSA = 0x7FFFFF;
        private static final int MANTISSA_BITS = 23;
        private static final int BYTE_MASK = 0xFF;
        private static final int DOUBLE_EXPONENT = 0x7FF;
        private static final int DOUBLE_MANTISSA_BITS = 52;
        private static final char[] HEX = "0123456789ABCDEF".toCharArray();

        private IrConstant() {}

        /**
         * A float32. LLVM writes it as the double of the same value, in hexadecimal; Java's conversion would change the payload of NaN, so that
         * for infinities and NaN the bits are put together here.
         */
        static String ofFloat(int bits) {
            float value = Float.intBitsToFloat(bits);
            if (Float.isFinite(value)) {
                return String.format(Locale.ROOT, "0x%016X", Double.doubleToRawLongBits(value));
            }
            long sign = bits < 0 ? Long.MIN_VALUE : 0;
            long mantissa = (long) (bits & MANTISSA) << (DOUBLE_MANTISSA_BITS - MANTISSA_BITS);
            return String.format(
                    Locale.ROOT, "0x%016X", sign | (long) DOUBLE_EXPONENT << DOUBLE_MANTISSA_BITS | mantissa);
        }

        /** The elements of a table, with its type: bytes as a string, which is the shortest form. */
        static String array(DType dtype, Bytes content) {
            ByteBuffer data = content.buffer();
            String type = IrType.inMemory(dtype);
            String head = "[" + content.size() / dtype.bytes() + " x " + type + "] ";
            if (content.size() == 0) {
                return head + "zeroinitializer";
            }
            if (dtype.bytes() == 1) {
                return head + string(data);
            }
            StringJoiner elements = new StringJoiner(", ", "[", "]");
            while (data.hasRemaining()) {
                elements.add(type + " " + element(dtype, data));
            }
            return head + elements;
        }

        private static String element(DType dtype, ByteBuffer data) {
            return switch (dtype.bytes()) {
                case Short.BYTES -> Short.toString(data.getShort());
                case Integer.BYTES -> dtype.isFloat() ? ofFloat(data.getInt()) : Integer.toString(data.getInt());
                default -> Long.toString(data.getLong());
            };
        }

        private static String string(ByteBuffer data) {
            StringBuilder text = new StringBuilder("c\"");
            while (data.hasRemaining()) {
                int value = data.get() & BYTE_MASK;
                text.append('\\').append(HEX[value >> 4]).append(HEX[value & 0xF]);
            }
            return text.append('"').toString();
        }
    }
}
