// SPDX-License-Identifier: Apache-2.0
package io.kiln.codegen.llvm;

import io.kiln.base.DType;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Collects the text of a function's body in LLVM IR. Results of instructions are numbered in the order of the text, as LLVM
 * demands; names of blocks and of variables are those of the loop IR, with a number behind a dot where one occurs again. Mutable
 * variables are memory of the first block, which LLVM turns into registers.
 */
final class IrFunction {
    /** The first block. */
    static final String ENTRY = "entry";

    private final StringBuilder slots = new StringBuilder();
    private final StringBuilder body = new StringBuilder();
    private final Map<String, Integer> names = new HashMap<>();
    private String block = ENTRY;
    private int next;

    IrFunction() {
        unique(ENTRY);
    }

    /** A name that occurs once in the function. */
    String unique(String name) {
        int number = names.merge(name, 1, Integer::sum);
        return number == 1 ? name : name + "." + (number - 1);
    }

    /** Adds an instruction with a result; returns the result's name. */
    String result(String instruction) {
        String name = "%" + next++;
        line(name + " = " + instruction);
        return name;
    }

    /** Adds an instruction without a result. */
    void line(String instruction) {
        body.append("  ").append(instruction).append('\n');
    }

    /** Ends the block with a jump. */
    void jump(String target) {
        line("br label %" + target);
    }

    /** Begins a block. */
    void begin(String label) {
        body.append('\n').append(label).append(":\n");
        block = label;
    }

    /** Ends the block with a jump to the next one, and begins that. */
    void fallInto(String label) {
        jump(label);
        begin(label);
    }

    /** The block to which instructions are added. */
    String block() {
        return block;
    }

    /** Memory of a mutable variable; returns its address. */
    String slot(String variable, String type, int alignment) {
        String name = "%" + unique(variable);
        slots.append("  ")
                .append(name)
                .append(" = alloca ")
                .append(type)
                .append(", align ")
                .append(alignment)
                .append('\n');
        return name;
    }

    /** The text of all blocks. */
    String text() {
        return ENTRY + ":\n" + slots + body;
    }

    /**
     * What the names of a function stand for at a place: addresses of buffers, values of constant scalars, memory of mutable ones. The loop IR
     * declares a name once on a path, so that a later declaration of a name replaces an earlier one that has ended.
     */
    static final class IrScope {
        /**
         * A scalar.
         *
         * @param dtype its type
         * @param text its value; for a mutable one its address
         * @param mutable whether it lies in memory
         */
        record Scalar(DType dtype, String text, boolean mutable) {}

        private final Map<String, String> pointers = new HashMap<>();
        private final Map<String, Scalar> scalars = new HashMap<>();

        void define(Buffer buffer, String address) {
            pointers.put(buffer.name(), address);
        }

        void define(Expr.Var variable, String value) {
            scalars.put(variable.name(), new Scalar(variable.dtype(), value, false));
        }

        void defineMutable(Expr.Var variable, String address) {
            scalars.put(variable.name(), new Scalar(variable.dtype(), address, true));
        }

        /** The address of a buffer's first element; memory of the module is found by its name. */
        String pointer(Buffer buffer) {
            return pointers.getOrDefault(buffer.name(), "@" + buffer.name());
        }

        Scalar scalar(String name) {
            return scalars.get(name);
        }
    }

    /**
     * Metadata of a module, the same that clang gives to C: loads and stores of different C types do not alias (type-based alias analysis; the
     * names of the types are clang's, so that they agree with those of kernels in C), bools are 0 or 1, and loops end.
     * 64-bit integers may alias all types:
     * their C type depends on the system.
     */
    static final class IrMetadata {
        private static final int PROGRESS = 0;
        private static final int RANGE = 1;
        private static final int ROOT = 2;
        private static final int CHAR = 3;

        /** First of the pairs of a type and its access. */
        private static final int TYPES = 4;

        private static final List<String> TYPE_NAMES = List.of("", "_Bool", "short", "int", "float");
        private static final int LOOPS = TYPES + 2 * TYPE_NAMES.size();

        private int loops;

        /** The alias metadata of a load or store of this type. */
        static String access(DType dtype) {
            return ", !tbaa !" + (TYPES + 2 * type(dtype) + 1);
        }

        /** The range metadata of a load of a bool. */
        static String range() {
            return ", !range !" + RANGE;
        }

        /** A loop's own node, for the jump back to its head. */
        String loop() {
            return ", !llvm.loop !" + (LOOPS + loops++);
        }

        private static int type(DType dtype) {
            return switch (dtype) {
                case INT8, UINT8, INT64, UINT64 -> 0;
                case BOOL -> 1;
                case INT16 -> 2;
                case INT32, UINT32 -> 3;
                case FLOAT32 -> 4;
            };
        }

        /** The text of all nodes. */
        String text() {
            StringBuilder out = new StringBuilder();
            node(out, PROGRESS, "!{!\"llvm.loop.mustprogress\"}");
            node(out, RANGE, "!{i8 0, i8 2}");
            node(out, ROOT, "!{!\"Simple C/C++ TBAA\"}");
            node(out, CHAR, "!{!\"omnipotent char\", !" + ROOT + ", i64 0}");
            for (int i = 0; i < TYPE_NAMES.size(); i++) {
                int id = TYPES + 2 * i;
                int type = i == 0 ? CHAR : id;
                if (i > 0) {
                    node(out, id, "!{!\"" + TYPE_NAMES.get(i) + "\", !" + CHAR + ", i64 0}");
                }
                node(out, id + 1, "!{!" + type + ", !" + type + ", i64 0}");
            }
            for (int i = 0; i < loops; i++) {
                node(out, LOOPS + i, "distinct !{!" + (LOOPS + i) + ", !" + PROGRESS + "}");
            }
            return out.toString();
        }

        private static void node(StringBuilder out, int id, String content) {
            out.append('!').append(id).append(" = ").append(content).append('\n');
        }
    }
}
