// SPDX-License-Identifier: Apache-2.0
package io.kiln.codegen.c;

import io.kiln.artifact.InterfaceNames;
import io.kiln.base.CText;
import io.kiln.base.DType;
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
        String section = table.pool().map(InterfaceNames::constantsSection).orElse(InterfaceNames.CONSTANTS_SECTION);
        return "__attribute__((section(\"" + section + "\"), aligned(16)))";
    }

    static String print(PrimFunc.Table table) {
        DType dtype = table.buffer().dtype();
        String comment = table.comment().isEmpty() ? "" : "/* " + CText.comment(table.comment()) + " */\n";
        StringBuilder out = new StringBuilder(comment + "static const " + dtype.cName() + " " + place(table) + " "
                + table.symbol() + "[" + table.buffer().elements() + "] = {\n");
        ByteBuffer data = table.data().buffer();
        StringBuilder line = new StringBuilder(" ");
        while (data.hasRemaining()) {
            String element = " " + element(dtype, data) + ",";
            if (line.length() + element.length() > WIDTH) {
                out.append(line).append('\n');
                line = new StringBuilder(" ");
            }
            line.append(element);
        }
        return out.append(line).append("\n};\n").toString();
    }

    private static String element(DType dtype, ByteBuffer data) {
        return switch (dtype) {
            case INT8 -> Integer.toString(data.get());
            case UINT8, BOOL -> Integer.toString(data.get() & 0xFF);
            case INT16 -> Integer.toString(data.getShort());
            case INT32 -> int32(data.getInt());
            case UINT32 -> (data.getInt() & 0xFFFFFFFFL) + "u";
            case INT64 -> int64(data.getLong());
            case UINT64 -> "UINT64_C(" + Long.toUnsignedString(data.getLong()) + ")";
            case FLOAT32 -> FloatLiteral.of(data.getInt());
        };
    }

    private static String int32(int value) {
        return value == Integer.MIN_VALUE ? "INT32_MIN" : Integer.toString(value);
    }

    private static String int64(long value) {
        return value == Long.MIN_VALUE ? "INT64_MIN" : "INT64_C(" + value + ")";
    }
}
