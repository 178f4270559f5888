// SPDX-License-Identifier: Apache-2.0
package io.kiln.codegen.llvm;

import io.kiln.base.DType;
import java.util.List;

/**
 * Metadata of a module, the same that clang gives to C: loads and stores of different C types do not alias (type-based alias analysis; the
 * names of the types are clang's, so that they agree with those of kernels in C), bools are 0 or 1, and loops end.
 * 64-bit integers may alias all types:
 * their C type depends on the system.
 */
final class IrMetadata {
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
