// SPDX-License-Identifier: Apache-2.0
package io.kiln.codegen.c;

import io.kiln.artifact.InterfaceNames;
import io.kiln.base.CText;
import io.kiln.base.DType;
import io.kiln.codegen.CodeUnit;
import io.kiln.tir.PrimFunc;
import java.nio.ByteBuffer;

/**
 * Prints constant tables: weights, biases, and lookup tables. Like TVM's, they have a separate section, so that a
 * linker script can place models apart from other constants, and are aligned for vector loads.
 */
final class TablePrinter {
    private static final int WIDTH = 120;

    private TablePrinter() {}

    private static String place(PrimFunc.Table table) {
        if (table.pool().filter(InterfaceNames.RAM_CONSTANTS::equals).isPresent()) {
            return RamHeader.constants(table.symbol()) + " __attribute__((aligned(16)))";
        }
        return "__attribute__((" + (table.isShared() ? "weak, " : "") + "section(\"" + CodeUnit.section(table)
                + "\"), aligned(16)))";
    }

    static String print(PrimFunc.Table table) {
        DType dtype = table.buffer().dtype();
        String comment = table.comment().isEmpty() ? "" : "/* " + CText.comment(table.comment()) + " */\n";
        StringBuilder out = new StringBuilder(
                comment + (table.isShared() ? "" : "static ") + "const " + dtype.cName() + " " + place(table) + " "
                        + table.symbol() + "[" + table.buffer().elements() + "] = {\n");
        ByteBuffer data = table.data().buffer();
        int lineStart = out.length();
        out.append(' ');
        while (data.hasRemaining()) {
            int end = out.length();
            out.append(' ');
            append(out, dtype, data);
            out.append(',');
            if (out.length() - lineStart > WIDTH) {
                out.insert(end, "\n ");
                lineStart = end + 1;
            }
        }
        return out.append("\n};\n").toString();
    }

    /** Appends the next element; small types make no string of their own, since models have millions of such elements. */
    private static void append(StringBuilder out, DType dtype, ByteBuffer data) {
        switch (dtype) {
            case INT8 -> out.append(data.get());
            case UINT8, BOOL -> out.append(data.get() & 0xFF);
            case INT16 -> out.append(data.getShort());
            case INT32 -> out.append(int32(data.getInt()));
            case UINT32 -> out.append(data.getInt() & 0xFFFFFFFFL).append('u');
            case INT64 -> out.append(int64(data.getLong()));
            case UINT64 ->
                out.append("UINT64_C(")
                        .append(Long.toUnsignedString(data.getLong()))
                        .append(')');
            case FLOAT32 -> out.append(FloatLiteral.of(data.getInt()));
        }
    }

    private static String int32(int value) {
        return value == Integer.MIN_VALUE ? "INT32_MIN" : Integer.toString(value);
    }

    private static String int64(long value) {
        return value == Long.MIN_VALUE ? "INT64_MIN" : "INT64_C(" + value + ")";
    }
}
