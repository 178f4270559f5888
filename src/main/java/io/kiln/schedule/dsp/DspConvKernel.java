// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dsp;

import io.kiln.schedule.parts.AsmText;
import io.kiln.tir.Kernel;
import io.kiln.tir.KernelText;
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
        return epilogue.kernel(name(), 0, definition());
    }

    private String definition() {
        return shape.describe(epilogue.headOfPairs(TEXT))
                .with("NAME", name())
                .with("UNUSED_PARAMETERS", unused(epilogue.kernelParameters()))
                .with("PARAMETERS", String.join(", ", epilogue.kernelParameters()))
                .with("CONSTANTS_IN_WORDS", epilogue.constantsInWords())
                .with("PIXELS", shape.pixels())
                .with("PITCH", shape.pitch())
                .with("STEPS", shape.steps())
                .with("ASSEMBLY", assembly())
                .with("RESCALE", epilogue.twin("        ", "sums[pixel][channel]"))
                .text();
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
