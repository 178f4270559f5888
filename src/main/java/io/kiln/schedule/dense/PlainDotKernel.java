// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dense;

import static io.kiln.base.DType.INT16;

import io.kiln.kernels.convolution.Jteint16_dotGenerated;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.parts.InstructionSets;
import io.kiln.schedule.space.Workload;
import io.kiln.target.CpuFeatures;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Kernel;
import java.util.List;
import java.util.Optional;

/**
 * Dot products of one or two runs of int16 with the int8 weights of up to four channels, for cores without SIMD: an input is loaded once
 * for four products, a weight once for two. In assembly, so that all compilers give the same loop.
 *
 * <pre>
 * weights: a tap's of four channels in a word
 * </pre>
 *
 * @param core for which it is written
 * @param distance bytes from a run to the next one
 * @param valid number of channels that exist
 * @param isSmall whether its code is small rather than fast
 */
public record PlainDotKernel(Core core, int distance, int valid, boolean isSmall) implements DotKernel {
    /** Channels of a block. */
    static final int CHANNELS = 4;

    private static final int PIXELS = 2;

    /** Largest distance that immediate offsets of Armv7-M reach. */
    private static final int MOST_DISTANCE = InstructionSets.LOAD_REACH - Short.BYTES * Core.ARMV7_M.unroll;

    /** Cores without SIMD. */
    public enum Core {
        ARMV7_M(InstructionSets.THUMB_2, 8),
        ARMV6_M(InstructionSets.THUMB_1, 4),
        RV32(InstructionSets.RV32_MUL, 4);

        private final String condition;
        private final int unroll;

        /** @param unroll taps in the loop for speed */
        Core(String condition, int unroll) {
            this.condition = condition;
            this.unroll = unroll;
        }

        /** Preprocessor condition of its instructions. */
        public String condition() {
            return condition;
        }

        /** The core's; empty where there are no kernels. */
        private static Optional<Core> of(CpuFeatures features) {
            return switch (features.family()) {
                case CORTEX_M -> Optional.of(features.hasLongMultiply() ? ARMV7_M : ARMV6_M);
                case RISCV ->
                    features.bits() == Integer.SIZE && features.hasLongMultiply()
                            ? Optional.of(RV32)
                            : Optional.empty();
                default -> Optional.empty();
            };
        }
    }

    /** The core's kernel for a layer of int16 data; empty if it has none, or if weights do not fit 8 bits without their zero point. */
    static Optional<DotKernel> of(Workload workload) {
        ConvComputation conv = workload.conv();
        int distance = Short.BYTES * conv.window().strideW() * conv.channelsPerGroup();
        return Core.of(workload.features())
                .filter(core -> conv.kernelZeroPoint() == 0)
                .<DotKernel>map(core ->
                        new PlainDotKernel(core, distance, Math.min(CHANNELS, conv.channels()), workload.isForSize()));
    }

    @Override
    public String title() {
        return "conv16";
    }

    @Override
    public String reason() {
        return isSmall
                ? "blocks of pixels and channels share loads; weights stay bytes; what is summed in 32 bits is proven"
                        + " to fit"
                : "no SIMD: blocks of pixels and channels share loads; what is summed in 32 bits is proven to fit";
    }

    /** On Armv7-M, an immediate offset has to reach from a run to the next one. */
    @Override
    public int pixels() {
        return core == Core.ARMV7_M && distance > MOST_DISTANCE ? 1 : PIXELS;
    }

    @Override
    public int channels() {
        return CHANNELS;
    }

    @Override
    public boolean hasCommonResults() {
        return true;
    }

    @Override
    public DotKernel of(int channels) {
        return new PlainDotKernel(core, distance, channels, isSmall);
    }

    @Override
    public void call(BlockBuilder block, List<Buffer> inputs, Buffer weights, Buffer sums, Expr taps) {
        DotKernel.call(block, kernel(inputs.size()), inputs, weights, sums, taps);
    }

    private Kernel kernel(int pixels) {
        boolean isApart = core == Core.ARMV7_M && pixels > 1;
        String name = "kiln_dot16_" + pixels + "x" + valid + (isApart ? "_apart" + distance / Short.BYTES : "")
                + (isSmall ? "_small" : "");
        List<String> parameters = DotKernel.parameters(pixels, "const int32_t* w", "int32_t* sums", "int32_t taps");
        return kernel(
                name,
                INT16,
                pixels,
                1,
                (out, html) -> Jteint16_dotGenerated.render(out, html, name, this, pixels, parameters));
    }

    /** Taps in the loop. */
    public int unroll() {
        return isSmall ? core.unroll / 2 : core.unroll;
    }
}
