// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dsp;

import static io.kiln.base.DType.INT16;
import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT8;

import io.kiln.lower.ProvenRescale;
import io.kiln.tir.Kernel;
import java.util.Collections;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The micro-kernel that computes one or two output rows of a depthwise convolution, in blocks of four channels.
 *
 * @param shape geometry
 * @param rows output rows, 1 or 2; two follow each other in memory
 * @param rescale what follows the sums, which come scaled: inputs by 256, weights by the rest
 */
record DspDepthwiseKernel(DspDepthwiseShape shape, int rows, DspRescale rescale) {

    /** Equal for kernels of the same text only. */
    String name() {
        ProvenRescale r = rescale.rescale();
        String late = r.hasNegatives() ? "_late" + (r.lateOffset() < 0 ? "m" : "") + Math.abs(r.lateOffset()) : "";
        String limits = rescale.isLimited() ? "_limit_" + (rescale.low() + 128) + "_" + (rescale.high() + 128) : "";
        return "kiln_depthwise_" + shape.suffix() + "_rows" + rows + "_scale" + r.scaleBits() + "_shift" + r.shift()
                + late + limits;
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
        return """
                /* %s of a depthwise convolution of %dx%d with stride %dx%d, %d columns and %d channels, for blocks of four channels from
                   out on. row: offset of each input row from input; negative: padding. table: for each channel pairs of weights times
                   %d, multiplier, offset%s. scratch: [column][channel][pair of rows], values times 256. */
                #if defined(__ARM_FEATURE_DSP)
                __attribute__((naked, noinline)) static void %s(%s) {
                  __asm__ volatile(
                %s  );
                }
                #else
                static void %s(%s) {
                %s}
                #endif
                """.formatted(
                        rows == 1 ? "One row" : "Two rows",
                        shape.kernelH(),
                        shape.kernelW(),
                        shape.strideH(),
                        shape.strideW(),
                        shape.width(),
                        shape.channels(),
                        1 << (rescale.rescale().scaleBits() - 8),
                        rescale.rescale().hasNegatives() ? ", what negative results are corrected by" : "",
                        name(),
                        parameters("__attribute__((unused)) "),
                        DspDepthwiseAsm.of(this),
                        name(),
                        parameters(""),
                        twin());
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

    private String twin() {
        ProvenRescale r = rescale.rescale();
        int count = shape.inputRows(rows);
        int perChannel = shape.weights() + (r.hasNegatives() ? 3 : 2);
        String offsets = IntStream.range(0, count).mapToObj(i -> "row" + i).collect(Collectors.joining(", "));
        String tap = shape.kernelH() == 1
                ? "table[kx]"
                : "table[kx * %d + (ky < %d ? ky %% 2 * %d + ky / 2 : %d)] >> (ky < %d ? 0 : 16)"
                        .formatted(
                                shape.weightsPerColumn(),
                                shape.kernelH() - 1,
                                shape.kernelH() / 2,
                                shape.wordOfLast(),
                                shape.kernelH() - 1);
        return """
                  const int32_t offsets[%d] = {%s};
                  for (int32_t block = 0; block < blocks; ++block, out += 4) {
                    for (int32_t row = 0; row < %d; ++row) {
                      const int8_t* const x = (offsets[row] < 0 ? padding : &input[offsets[row]]) + 4 * block;
                      for (int32_t i = 0; i < %d; ++i) {
                        scratch[(%d + i) * %d + row] = (int16_t)(x[i / 4 * %d + i %% 4] * 256);
                      }
                    }
                    for (int32_t c = 0; c < 4; ++c, table += %d) {
                      for (int32_t i = 0; i < %d; ++i) {
                        int32_t sum = 0;
                        for (int32_t kx = 0; kx < %d; ++kx) {
                          for (int32_t ky = 0; ky < %d; ++ky) {
                            const int32_t x = scratch[((i / %d * %d + kx) * 4 + c) * %d + i %% %d * %d + ky];
                            sum += x * (int16_t)(%s);
                          }
                        }
                        int32_t value = table[%d] + (int32_t)(((int64_t)sum * table[%d]) >> 32);
                %s        value >>= %d;
                        out[i %% %d * %d + i / %d * %d + c] = (int8_t)(value < %d ? %d : (value > %d ? %d : value));
                      }
                    }
                  }
                """.formatted(
                        count,
                        offsets,
                        count,
                        shape.inputColumns() * DspDepthwiseShape.BLOCK,
                        shape.padLeft() * DspDepthwiseShape.BLOCK,
                        2 * shape.pairs(),
                        shape.channels(),
                        perChannel,
                        shape.width() * rows,
                        shape.kernelW(),
                        shape.kernelH(),
                        rows,
                        shape.strideW(),
                        2 * shape.pairs(),
                        rows,
                        shape.strideH(),
                        tap,
                        shape.weights() + 1,
                        shape.weights(),
                        r.hasNegatives()
                                ? "        value += %d - (value < 0 ? table[%d] : 0);\n"
                                        .formatted(r.lateOffset(), shape.weights() + 2)
                                : "",
                        r.shift(),
                        rows,
                        shape.width() * shape.channels(),
                        rows,
                        shape.channels(),
                        rescale.low(),
                        rescale.low(),
                        rescale.high(),
                        rescale.high());
    }
}
