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

/**
 * Neighbouring pixels, two by two or one by one: {@link DspWidening} widens their windows, then {@link DspConvAsm} multiplies them with all
 * channels. Where there are only a few channels, {@link DspInPlaceAsm} does both at once.
 *
 * @param widening where the inputs of a pixel are
 * @param shape sizes
 * @param epilogue the rescaling of the sums
 */
record DspRowKernel(DspWidening widening, DspConvShape shape, DspEpilogue epilogue) {
    private static final KernelText TEXT = KernelText.of("dsp/conv_row");
    private static final int INPUT = 4;
    private static final int WEIGHTS = 8;
    private static final int OUTPUT_END = 56;

    /** Stack layout. The count of pixels becomes the end of the output, the count of blocks the end of the weights. */
    private static final DspConvAsm.Slots SLOTS = new DspConvAsm.Slots(0, 12, 16, 60, 64);

    String name() {
        return "kiln_conv_" + widening.suffix() + "_" + shape.suffix() + epilogue.suffix();
    }

    /** {@code (x, in, weights, out, count, blocks[, late])}, of which x is scratch; count is how often the shape's pixels are computed, at least once. */
    Kernel kernel() {
        return new Kernel(
                name(),
                List.of(
                        Kernel.Pointer.out(INT8),
                        Kernel.Pointer.in(INT8),
                        Kernel.Pointer.in(INT32),
                        Kernel.Pointer.out(INT8)),
                Collections.nCopies(2 + epilogue.parameters().size(), INT32),
                List.of(),
                definition(),
                List.of());
    }

    private String definition() {
        List<String> parameters = parameters();
        String scratch = DspConvKernel.unused(parameters.subList(0, 1));
        return shape.describe(epilogue.headOfPairs(TEXT))
                .with("NAME", name())
                .with("UNUSED_PARAMETERS", DspConvKernel.unused(parameters))
                .with("PARAMETERS", scratch + ", " + String.join(", ", parameters.subList(1, parameters.size())))
                .with("CONSTANTS_IN_WORDS", epilogue.constantsInWords())
                .with("PIXELS", shape.pixels())
                .with("PITCH", shape.pitch())
                .with("INPUTS", widening.inputs())
                .with("PLACE", widening.place())
                .with("PLACES", widening.places())
                .with("INPUT_PITCH", widening.pitch())
                .with("STEPS", shape.steps())
                .with("ASSEMBLY", assembly())
                .with("RESCALE", epilogue.twin("          ", "sums[pixel][channel]"))
                .text();
    }

    private List<String> parameters() {
        List<String> parameters = new ArrayList<>(List.of(
                "int8_t* x",
                "const int8_t* in",
                "const int32_t* weights",
                "int8_t* out",
                "int32_t count",
                "int32_t blocks"));
        epilogue.parameters().forEach(p -> parameters.add("int32_t " + p));
        return parameters;
    }

    private String assembly() {
        if (widening instanceof DspRuns runs && runs.isInPlace()) {
            return new DspInPlaceAsm(runs, shape, epilogue).text();
        }
        AsmText asm = new AsmText();
        enter(asm);
        asm.line("mov r2, r1");
        asm.line("1:");
        asm.add("r3", "r2", widening.pitch(), "r4");
        if (shape.pixels() == 2) {
            asm.add("r4", "r3", widening.pitch(), "r5");
        }
        asm.line("str r%d, [sp, #%d]", 2 + shape.pixels(), INPUT);
        DspWidening.Form form = new DspWidening.Form(shape.pixels(), shape.isPaired() && shape.pixels() == 2);
        widening.emit(asm, form);
        asm.line("ldr r1, [sp, #%d]", WEIGHTS);
        if (form.isStoredTogether() || widening.movesScratch()) {
            asm.line("ldr r0, [sp, #%d]", SLOTS.inputs());
        }
        new DspConvAsm(shape, epilogue, SLOTS).emit(asm);
        if (shape.pixels() == 2) {
            asm.add("r12", "r12", shape.pitch(), "lr");
        }
        asm.line("str r12, [sp, #%d]", SLOTS.output());
        asm.line("ldr r10, [sp, #%d]", OUTPUT_END);
        asm.line("ldr r2, [sp, #%d]", INPUT);
        asm.line("cmp r12, r10");
        asm.line("bne 1b");
        asm.line("add sp, #20");
        asm.line("pop {r4-r11, pc}");
        return asm.lines();
    }

    /** Saves registers and arguments, and turns the counts of pixels and blocks into ends. */
    private void enter(AsmText asm) {
        asm.line("push {r4-r11, lr}");
        asm.add("r4", "r0", DspConvShape.STEP_BYTES * shape.steps(), "r5");
        asm.line("push {r0-r4}");
        asm.line("ldr r5, [sp, #%d]", OUTPUT_END);
        asm.line("ldr r6, [sp, #%d]", SLOTS.weightsEnd());
        asm.move("r7", shape.pixels() * shape.pitch());
        asm.move("r8", shape.blockBytes(epilogue));
        asm.line("mla r5, r5, r7, r3");
        asm.line("mla r6, r6, r8, r2");
        asm.line("str r5, [sp, #%d]", OUTPUT_END);
        asm.line("str r6, [sp, #%d]", SLOTS.weightsEnd());
    }
}
