// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dsp;

import static io.kiln.base.DType.INT16;
import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT8;

import io.kiln.tir.Kernel;
import io.kiln.tir.KernelText;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The micro-kernel that computes one or two output rows of a depthwise convolution, in blocks of four channels.
 *
 * @param shape geometry
 * @param rows output rows, 1 or 2; two follow each other in memory
 * @param isPaired see {@link DspConvShape}; where the offset reaches
 * @param epilogue the rescaling of the sums, which are already scaled: inputs by 256, weights by the rest
 */
record DspDepthwiseKernel(DspDepthwiseShape shape, int rows, boolean isPaired, DspDepthwiseEpilogue epilogue) {
    private static final KernelText TEXT = KernelText.of("dsp/depthwise");

    /** Equal only for kernels with the same text. */
    String name() {
        return "kiln_depthwise_" + shape.suffix() + "_rows" + rows + (isPaired ? "_paired" : "") + epilogue.suffix();
    }

    Kernel kernel() {
        return new Kernel(
                name(),
                List.of(
                        Kernel.Pointer.in(INT8),
                        Kernel.Pointer.in(INT8),
                        Kernel.Pointer.out(INT16),
                        Kernel.Pointer.in(INT32),
                        Kernel.Pointer.out(INT8)),
                Collections.nCopies(shape.inputRows(rows) + 1, INT32),
                List.of(),
                definition(),
                List.of());
    }

    private String definition() {
        KernelText text = TEXT.with("NAME", name())
                .with("ROWS_WORDS", rows == 1 ? "One row" : "Two rows")
                .with("KERNEL", kernelInWords())
                .with("STRIDE", shape.strideH() + "x" + shape.strideW())
                .with("WIDTH", shape.width())
                .with("WEIGHT_SCALE", 1 << epilogue.weightBits())
                .with("CONSTANTS_IN_WORDS", epilogue.constantsInWords())
                .with("UNUSED_PARAMETERS", parameters("__attribute__((unused)) "))
                .with("PARAMETERS", parameters(""))
                .with("ASSEMBLY", DspDepthwiseAsm.of(this));
        return twin(text).text();
    }

    private String kernelInWords() {
        String dilated = shape.dilationW() == 1 ? "" : ", dilated by " + shape.dilationW();
        return shape.kernelH() + "x" + shape.kernelW() + dilated;
    }

    private String blockInWords() {
        String channels = List.of("two", "three", "four").get(shape.block() - 2) + " channels";
        return shape.multiplier() == 1 ? channels : channels + ", " + shape.multiplier() + " outputs each,";
    }

    private String parameters(String attribute) {
        return List.of(
                                "const int8_t* input",
                                "const int8_t* padding",
                                "int16_t* scratch",
                                "const int32_t* table",
                                "int8_t* out")
                        .stream()
                        .map(p -> attribute + p)
                        .collect(Collectors.joining(", "))
                + IntStream.range(0, shape.inputRows(rows))
                        .mapToObj(i -> ", " + attribute + "int32_t row" + i)
                        .collect(Collectors.joining())
                + ", " + attribute + "int32_t blocks";
    }

    private KernelText twin(KernelText text) {
        int count = shape.inputRows(rows);
        return text.with("INPUT_ROWS", count)
                .with(
                        "OFFSETS",
                        IntStream.range(0, count).mapToObj(i -> "row" + i).collect(Collectors.joining(", ")))
                .with("ROW_BYTES", shape.inputColumns() * shape.block())
                .with("FIRST_COLUMN", shape.padLeft() * shape.block())
                .with("COLUMN_ROWS", 2 * shape.pairs())
                .with("CHANNELS", shape.channels())
                .with("CHANNELS_OUT", shape.outputs())
                .with("BLOCK", shape.block())
                .with("BLOCK_OUT", shape.block() * shape.multiplier())
                .with("BLOCK_IN_WORDS", blockInWords())
                .with("LANE", shape.multiplier() == 1 ? "c" : "c / " + shape.multiplier())
                .with("TABLE_WORDS", shape.weights() + 2 + epilogue.kept())
                .with("OUTPUTS", shape.width() * rows)
                .with("KERNEL_W", shape.kernelW())
                .with("KERNEL_H", shape.kernelH())
                .with("ROWS", rows)
                .with("STRIDE_W", shape.strideW())
                .with("DILATION_W", shape.dilationW())
                .with("STRIDE_H", shape.strideH())
                .with("TAP", tap())
                .with("RESCALE", epilogue.twin(shape.weights()).indent(8))
                .with("OUT_ROW", shape.width() * shape.outputs())
                .with("LOW", epilogue.rescale().low())
                .with("HIGH", epilogue.rescale().high());
    }

    /** C's expression of a tap: pairs of rows lie in one word, the last row of an odd number in the upper half of another. */
    private String tap() {
        if (shape.kernelH() == 1) {
            return "table[kx]";
        }
        return String.format(
                Locale.ROOT,
                "table[kx * %d + (ky < %d ? ky %% 2 * %d + ky / 2 : %d)] >> (ky < %d ? 0 : 16)",
                shape.weightsPerColumn(),
                shape.kernelH() - 1,
                shape.kernelH() / 2,
                shape.wordOfLast(),
                shape.kernelH() - 1);
    }
}
