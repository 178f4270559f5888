// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dsp;

import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT8;

import io.kiln.schedule.parts.AsmText;
import io.kiln.tir.Kernel;
import io.kiln.tir.KernelText;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Two neighbouring pixels or one, whose windows are already widened, times blocks of four output channels, by {@link DspConvAsm}.
 *
 * @param shape sizes
 * @param epilogue the rescaling of the sums
 */
record DspConvKernel(DspConvShape shape, DspEpilogue epilogue) {
    private static final KernelText TEXT = KernelText.of("dsp/conv");
    private static final DspConvAsm.Slots SLOTS = new DspConvAsm.Slots(0, 4, 12, 8, 52);

    String name() {
        return "kiln_conv_" + shape.suffix() + epilogue.suffix();
    }

    /** {@code (x, w, out, blocks[, late])}. */
    Kernel kernel() {
        return new Kernel(
                name(),
                List.of(Kernel.Pointer.in(INT8), Kernel.Pointer.in(INT32), Kernel.Pointer.out(INT8)),
                Collections.nCopies(1 + epilogue.parameters().size(), INT32),
                List.of(),
                definition(),
                List.of());
    }

    private String definition() {
        return shape.describe(epilogue.headOfPairs(TEXT))
                .with("NAME", name())
                .with("UNUSED_PARAMETERS", unused(parameters()))
                .with("PARAMETERS", String.join(", ", parameters()))
                .with("CONSTANTS_IN_WORDS", epilogue.constantsInWords())
                .with("PIXELS", shape.pixels())
                .with("PITCH", shape.pitch())
                .with("STEPS", shape.steps())
                .with("ASSEMBLY", assembly())
                .with("RESCALE", epilogue.twin("        ", "sums[pixel][channel]"))
                .text();
    }

    private List<String> parameters() {
        List<String> parameters =
                new ArrayList<>(List.of("const int8_t* x", "const int32_t* w", "int8_t* out", "int32_t blocks"));
        epilogue.parameters().forEach(p -> parameters.add("int32_t " + p));
        return parameters;
    }

    /** Parameters of a naked function, which only its assembly reads. */
    static String unused(List<String> parameters) {
        return parameters.stream().map(p -> "__attribute__((unused)) " + p).collect(Collectors.joining(", "));
    }

    private String assembly() {
        AsmText asm = new AsmText();
        asm.line("push {r4-r11, lr}");
        asm.move("r4", shape.blockBytes(epilogue));
        asm.line("mla r3, r3, r4, r1");
        asm.add("r4", "r0", DspConvShape.STEP_BYTES * shape.steps(), "r5");
        asm.line("push {r0, r2, r3, r4}");
        new DspConvAsm(shape, epilogue, SLOTS).emit(asm);
        asm.line("add sp, #16");
        asm.line("pop {r4-r11, pc}");
        return asm.lines();
    }
}
