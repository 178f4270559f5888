// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.wide;

import static io.kiln.base.DType.INT16;
import static io.kiln.base.DType.INT32;

import io.kiln.base.DType;
import io.kiln.schedule.parts.AsmText;
import io.kiln.schedule.parts.PixelTile;
import io.kiln.tir.Intrinsic;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import io.kiln.tir.KernelText;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;

/**
 * What the texts of all {@link WideKernel}s have in common.
 *
 * <p>Assembly finds its arguments in these registers:
 *
 * <pre>
 * r0 inputs           r1 table                 r2 rows of the window inside the input         r3 output
 * r4 bytes of weights in rows above these      r5 of the rest                                    r6 end of the table
 * r8 rows left where the input's buffer wraps around                                          r9, r10 limits
 * </pre>
 */
record WideText(WideKernel kernel, WideKernel.Place place) {
    private static final KernelText ASSEMBLY = KernelText.of("portable/depthwise16_assembly");

    /**
     * The kernel of a text that has values for everything of its own.
     *
     * @param uses intrinsics that the text calls
     */
    Kernel kernel(String name, KernelText text, List<Intrinsic> uses) {
        PixelTile tile = place.tile();
        boolean isRing = place.wrap() > 0;
        List<DType> scalars = new ArrayList<>(Collections.nCopies(3, INT32));
        scalars.addAll(Collections.nCopies((isRing ? 1 : 0) + (place.isLimited() ? 2 : 0), INT32));
        String definition = text.with("NAME", name)
                .with("PIXELS", tile.pixels())
                .with("BEGIN", tile.begin())
                .with("END", tile.end())
                .with("RING_PARAMETERS", isRing ? "    , int32_t before\n" : "")
                .with("LIMIT_PARAMETERS", place.isLimited() ? "    , int32_t low, int32_t high\n" : "")
                .with("LIMITS", place.isLimited() ? "limits" : "the range of int16")
                .with("TAPS", tile.taps())
                .with("WEIGHT_WORDS", kernel.weightWords(place.rows() * tile.taps()))
                .text();
        return new Kernel(
                name,
                List.of(Pointer.in(INT16), Pointer.in(INT32), Pointer.out(INT16)),
                scalars,
                List.of(),
                definition,
                uses);
    }

    /**
     * A kernel in assembly.
     *
     * @param condition of the preprocessor, for cores that have the instructions
     * @param order C expression of the place of channel {@code i} among a block's biases
     * @param weight C expression of weight {@code i} in a block
     * @param asm the instructions
     */
    Kernel assembly(String name, String condition, String order, String weight, AsmText asm) {
        PixelTile tile = place.tile();
        KernelText text = ASSEMBLY.with("CONDITION", condition)
                .with("STRIDE", tile.stride())
                .with("DILATION", tile.dilation())
                .with("BLOCK", kernel.channels())
                .with("VALID", Math.min(kernel.channels(), place.channels()))
                .with("CHANNELS", place.channels())
                .with("STEP", place.step())
                .with("PLACE", order)
                .with("WEIGHT", weight)
                .with("NEXT_ROW", nextRow())
                .with("LOW", place.isLimited() ? "low" : "-32768")
                .with("HIGH", place.isLimited() ? "high" : "32767")
                .with("ASSEMBLY", statement(asm));
        return kernel(name, text, List.of());
    }

    private String nextRow() {
        return place.wrap() == 0
                ? ""
                : String.format(Locale.ROOT, "      position -= left == rows - before ? %d : 0;\n", place.wrap());
    }

    private String statement(AsmText asm) {
        int taps = place.rows() * place.tile().taps();
        int rowBytes = place.tile().taps() * kernel.channels() * kernel.weightBytes();
        boolean isLimited = place.isLimited();
        List<String> values = List.of(
                "x",
                "table",
                "rows",
                "out",
                "above * " + rowBytes,
                kernel.weightWords(taps) * Integer.BYTES + " - (above + rows) * " + rowBytes,
                "table + blocks * " + kernel.blockWords(taps),
                place.wrap() == 0 ? "0" : "rows - before",
                isLimited ? "low" : "0",
                isLimited ? "high" : "0");
        List<String> types = new ArrayList<>(List.of("const int16_t*", "const int32_t*", "int32_t", "int16_t*"));
        types.addAll(List.of("int32_t", "int32_t", "const int32_t*", "int32_t", "int32_t", "int32_t"));
        List<String> clobbers = new ArrayList<>(List.of("r12", "lr"));
        clobbers.addAll(kernel.vectors());
        return asm.statement(values, types, clobbers);
    }
}
