// SPDX-License-Identifier: Apache-2.0
package io.kiln.tir;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HashMap;
import java.util.Map;

/**
 * Runs a function of the loop IR element by element, checks every access against its buffer, and remembers which
 * elements of the inputs were read.
 */
public final class TirEvaluator {
    /** Elements as integers, floats as their bits, seen from an offset on. */
    private static final class Region implements KernelTwins.Memory {
        private final long[] elements;
        private final int offset;
        private final boolean[] read;

        Region(long[] elements, int offset, boolean[] read) {
            this.elements = elements;
            this.offset = offset;
            this.read = read;
        }

        @Override
        public long get(int index) {
            if (read.length > 0) {
                read[offset + index] = true;
            }
            return elements[offset + index];
        }

        @Override
        public void put(int index, long value) {
            elements[offset + index] = value;
        }
    }

    private final Map<String, Region> buffers = new HashMap<>();
    private final Map<String, Long> scalars = new HashMap<>();
    private final KernelTwins kernels = new KernelTwins();

    /** Runs the function; the outputs' elements are changed in place. */
    public static TirEvaluator run(PrimFunc function, Map<String, long[]> memory, Map<String, Long> scalars) {
        TirEvaluator evaluator = new TirEvaluator();
        memory.forEach(
                (name, elements) -> evaluator.buffers.put(name, new Region(elements, 0, new boolean[elements.length])));
        function.constants()
                .forEach(t -> evaluator.buffers.put(
                        t.buffer().name(), new Region(elements(t.buffer().dtype(), t.data()), 0, new boolean[0])));
        evaluator.scalars.putAll(scalars);
        evaluator.run(function.body());
        return evaluator;
    }

    /** Which elements of a buffer were read. */
    public boolean[] read(String buffer) {
        return buffers.get(buffer).read;
    }

    /** Little-endian bytes as elements. */
    public static long[] elements(DType dtype, Bytes data) {
        ByteBuffer buffer = data.buffer();
        long[] elements = new long[data.size() / dtype.bytes()];
        for (int i = 0; i < elements.length; i++) {
            elements[i] = switch (dtype) {
                case INT8 -> buffer.get();
                case UINT8, BOOL -> buffer.get() & 0xFF;
                case INT16 -> buffer.getShort();
                case INT32, FLOAT32 -> buffer.getInt();
                case UINT32 -> buffer.getInt() & 0xFFFFFFFFL;
                case INT64, UINT64 -> buffer.getLong();
            };
        }
        return elements;
    }

    /** Elements as little-endian bytes. */
    public static Bytes bytes(DType dtype, long[] elements) {
        ByteBuffer buffer = ByteBuffer.allocate(elements.length * dtype.bytes()).order(ByteOrder.LITTLE_ENDIAN);
        for (long element : elements) {
            switch (dtype.bytes()) {
                case 1 -> buffer.put((byte) element);
                case 2 -> buffer.putShort((short) element);
                case 4 -> buffer.putInt((int) element);
                default -> buffer.putLong(element);
            }
        }
        return Bytes.wrap(buffer.array());
    }

    private void run(Stmt stmt) {
        if (stmt instanceof Stmt.Block block) {
            block.statements().forEach(this::run);
        } else if (stmt instanceof Stmt.For loop) {
            long end = eval(loop.end());
            for (long i = eval(loop.begin()); i < end; i += loop.step()) {
                scalars.put(loop.variable().name(), i);
                run(loop.body());
            }
        } else if (stmt instanceof Stmt.While loop) {
            while (eval(loop.condition()) != 0) {
                run(loop.body());
            }
        } else if (stmt instanceof Stmt.If branch) {
            if (eval(branch.condition()) != 0) {
                run(branch.then());
            } else {
                branch.otherwise().ifPresent(this::run);
            }
        } else if (stmt instanceof Stmt.Declare declare) {
            scalars.put(declare.variable().name(), eval(declare.value()));
        } else if (stmt instanceof Stmt.Assign assign) {
            scalars.put(assign.variable().name(), eval(assign.value()));
        } else if (stmt instanceof Stmt.DeclareView view) {
            Region base = buffers.get(view.base().name());
            int offset = Math.toIntExact(base.offset + eval(view.offset()));
            buffers.put(view.view().name(), new Region(base.elements, offset, base.read));
        } else if (stmt instanceof Stmt.Store store) {
            Region region = buffers.get(store.buffer().name());
            int index = Math.toIntExact(region.offset + eval(store.index()));
            region.elements[index] = narrow(store.buffer().dtype(), eval(store.value()));
        } else if (stmt instanceof Stmt.CallKernel call) {
            kernels.run(
                    call.kernel().name(),
                    call.pointers().stream()
                            .<KernelTwins.Memory>map(b -> buffers.get(b.name()))
                            .toList(),
                    call.scalars().stream().map(this::eval).toList());
        } else if (stmt instanceof Stmt.Copy copy) {
            Region from = buffers.get(copy.from().name());
            Region to = buffers.get(copy.to().name());
            for (int i = 0; i < copy.bytes() / copy.from().dtype().bytes(); i++) {
                to.put(i, from.get(i));
            }
        } else {
            throw new IllegalArgumentException("cannot run " + stmt);
        }
    }

    private static long narrow(DType dtype, long value) {
        return switch (dtype) {
            case INT8 -> (byte) value;
            case UINT8 -> value & 0xFF;
            case INT16 -> (short) value;
            case INT32, FLOAT32 -> (int) value;
            case UINT32 -> value & 0xFFFFFFFFL;
            case INT64, UINT64 -> value;
            case BOOL -> value == 0 ? 0 : 1;
        };
    }

    private long eval(Expr expr) {
        if (expr instanceof Expr.IntImm imm) {
            return imm.value();
        }
        if (expr instanceof Expr.FloatImm imm) {
            return Float.floatToRawIntBits(imm.value());
        }
        if (expr instanceof Expr.Var variable) {
            return scalars.get(variable.name());
        }
        if (expr instanceof Expr.Load load) {
            Region region = buffers.get(load.buffer().name());
            int index = Math.toIntExact(region.offset + eval(load.index()));
            if (region.read.length > 0) {
                region.read[index] = true;
            }
            return region.elements[index];
        }
        if (expr instanceof Expr.Cast cast) {
            return cast(cast, eval(cast.value()));
        }
        if (expr instanceof Expr.Select select) {
            return eval(eval(select.condition()) != 0 ? select.then() : select.otherwise());
        }
        if (expr instanceof Expr.Call call) {
            return TirIntrinsics.call(
                    call.intrinsic().name(),
                    call.args().stream().map(this::eval).toList());
        }
        Expr.Binary binary = (Expr.Binary) expr;
        long a = eval(binary.a());
        if (binary.op() == Expr.BinaryOp.AND && a == 0) {
            return 0;
        }
        if (binary.op() == Expr.BinaryOp.OR && a != 0) {
            return 1;
        }
        return binary.a().dtype().isFloat()
                ? floats(binary.op(), real(a), real(eval(binary.b())))
                : integers(binary, a, eval(binary.b()));
    }

    private static float real(long bits) {
        return Float.intBitsToFloat((int) bits);
    }

    private static long bits(float value) {
        return Float.floatToRawIntBits(value);
    }

    private static long cast(Expr.Cast cast, long value) {
        boolean fromFloat = cast.value().dtype().isFloat();
        if (cast.dtype().isFloat()) {
            return fromFloat ? value : bits((float) value);
        }
        return narrow(cast.dtype(), fromFloat ? (long) real(value) : value);
    }

    private static long floats(Expr.BinaryOp op, float a, float b) {
        return switch (op) {
            case ADD -> bits(a + b);
            case SUB -> bits(a - b);
            case MUL -> bits(a * b);
            case DIV -> bits(a / b);
            case LT -> a < b ? 1 : 0;
            case GT -> a > b ? 1 : 0;
            case LE -> a <= b ? 1 : 0;
            case GE -> a >= b ? 1 : 0;
            case EQ -> a == b ? 1 : 0;
            case NE -> a != b ? 1 : 0;
            default -> throw new IllegalArgumentException("float " + op);
        };
    }

    /** Signed arithmetic must not overflow, as in C. */
    private static long integers(Expr.Binary binary, long a, long b) {
        long result = switch (binary.op()) {
            case ADD -> a + b;
            case SUB -> a - b;
            case MUL -> Math.multiplyExact(a, b);
            case DIV -> a / b;
            case MOD -> a % b;
            case SHL -> a << b;
            case SHR -> a >> b;
            case BIT_AND -> a & b;
            case BIT_XOR -> a ^ b;
            case BIT_OR -> a | b;
            case LE -> a <= b ? 1 : 0;
            case GE -> a >= b ? 1 : 0;
            case NE -> a != b ? 1 : 0;
            case OR -> b != 0 ? 1 : 0;
            case LT -> a < b ? 1 : 0;
            case GT -> a > b ? 1 : 0;
            case EQ -> a == b ? 1 : 0;
            case AND -> b != 0 ? 1 : 0;
        };
        if (binary.dtype() == DType.INT32 && result != (int) result) {
            throw new ArithmeticException(binary.op() + " overflows: " + a + ", " + b);
        }
        return narrow(binary.dtype(), result);
    }
}
