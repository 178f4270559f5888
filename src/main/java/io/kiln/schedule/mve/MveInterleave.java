// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.mve;

import io.kiln.base.DType;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import io.kiln.tir.KernelText;
import java.util.Collections;
import java.util.List;
import java.util.Locale;

/**
 * The micro-kernel of {@link MveInterleaved}: interleaves up to four rows of the input, so that one word holds a channel's values in four
 * rows:
 *
 * <pre>
 *   q0-q3   16 bytes of each row       VST4: byte i of q0, q1, q2, q3 follow each other
 * </pre>
 */
final class MveInterleave {
    private static final KernelText TEXT = KernelText.of("mve/interleave");

    private MveInterleave() {}

    /** {@code interleave(from, to, bytes, zero_point, row0, ...)}: rows begin at offsets, which are negative outside the input. */
    static Kernel of(int rows) {
        String name = "kiln_mve_interleave_" + rows;
        StringBuilder parameters = new StringBuilder();
        StringBuilder pointers = new StringBuilder();
        StringBuilder operands = new StringBuilder();
        StringBuilder steps = new StringBuilder();
        StringBuilder loads = new StringBuilder();
        StringBuilder lastLoads = new StringBuilder("vctp.8 %[bytes]\n");
        StringBuilder twin = new StringBuilder();
        for (int i = 0; i < rows; i++) {
            parameters.append(", int32_t row").append(i);
            pointers.append(String.format(
                    Locale.ROOT, "  const int8_t* from%1$d = row%1$d < 0 ? outside : from + row%1$d;\n", i));
            operands.append(i == 0 ? "" : ", ").append(String.format(Locale.ROOT, "[from%1$d] \"+r\"(from%1$d)", i));
            steps.append(String.format(Locale.ROOT, ", [step%1$d] \"r\"(row%1$d < 0 ? 0 : 16)", i));
            loads.append(String.format(
                    Locale.ROOT, "vldrb.8 q%1$d, [%%[from%1$d]]\nadd %%[from%1$d], %%[from%1$d], %%[step%1$d]\n", i));
            lastLoads.append(String.format(Locale.ROOT, "vpst\nvldrbt.8 q%1$d, [%%[from%1$d]]\n", i));
            twin.append(String.format(
                    Locale.ROOT, "    to[4 * i + %1$d] = row%1$d < 0 ? (int8_t)zero_point : from[row%1$d + i];\n", i));
        }
        String store = """
            vst40.8 {q0, q1, q2, q3}, [%[to]]
            vst41.8 {q0, q1, q2, q3}, [%[to]]
            vst42.8 {q0, q1, q2, q3}, [%[to]]
            vst43.8 {q0, q1, q2, q3}, [%[to]]!
            """;
        String loop = "wls lr, %[count], 2f\n1:\n" + loads + store + "le lr, 1b\n2:\n" + lastLoads + store;
        String definition = TEXT.with("NAME", name)
                .with("ROWS", "int32_t zero_point" + parameters)
                .with("POINTERS", pointers.toString())
                .with("INSTRUCTIONS", MveText.lines(loop))
                .with("ADDRESSES", operands.toString())
                .with("STEPS_OF_ROWS", "[count] \"r\"(whole), [bytes] \"r\"(rest)" + steps)
                .with("TWIN", twin.toString())
                .text();
        return new Kernel(
                name,
                List.of(Pointer.in(DType.INT8), Pointer.out(DType.INT8)),
                Collections.nCopies(2 + rows, DType.INT32),
                List.of(),
                definition,
                List.of());
    }
}
