// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.depthwise;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.sub;

import io.kiln.ir.op.Window;
import io.kiln.kernels.depthwise.JtefpuGenerated;
import io.kiln.lower.Tables;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.convolution.FpuConvSchedule;
import io.kiln.schedule.convolution.FpuLimits;
import io.kiln.schedule.parts.PixelTile;
import io.kiln.schedule.parts.WindowRows;
import io.kiln.schedule.space.Choice;
import io.kiln.schedule.space.Configuration;
import io.kiln.schedule.space.ConvTask;
import io.kiln.schedule.space.Knob;
import io.kiln.schedule.space.LayerCode;
import io.kiln.schedule.space.LayerLoops;
import io.kiln.schedule.space.Schedule;
import io.kiln.schedule.space.Space;
import io.kiln.schedule.space.Workload;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Kernel;
import io.kiln.tir.KernelSheet;
import io.kiln.tir.Stmt;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/** Depthwise convolutions of float data on a floating-point unit with fused multiply-add. */
public record FpuDepthwiseSchedule(String name) implements Schedule<FpuLimits> {
    private static final int REGISTERS = 32;
    private static final int MOST_PIXELS = 4;

    @Override
    public Optional<FpuLimits> applies(Workload workload) {
        ConvComputation conv = workload.conv();
        boolean suits = FpuConvSchedule.hasKernels(workload)
                && conv.isOneToOne()
                && conv.channels() >= Loops.CHANNELS
                && mostPixels(conv) > 0;
        return suits ? Optional.of(FpuLimits.of(conv.op())) : Optional.empty();
    }

    /** Largest number of pixels whose sums fit the registers beside the weights of a row of the window and an input; 0 if none does. */
    private static int mostPixels(ConvComputation conv) {
        int left = REGISTERS / Loops.CHANNELS - conv.window().kernelW() - 1;
        return Math.max(0, Math.min(Math.min(MOST_PIXELS, left), conv.output().dim(2)));
    }

    @Override
    public Space space(Workload workload, FpuLimits limits) {
        int most = mostPixels(workload.conv());
        return Space.of(
                name(), Knob.of("pixel_block", IntStream.rangeClosed(1, most).toArray()));
    }

    @Override
    public LayerLoops lower(ConvTask task, FpuLimits limits, Configuration configuration) {
        return new Loops(task, configuration.number("pixel_block"), limits).loops();
    }

    /** Wherever it applies. */
    public Optional<Choice<FpuLimits>> choose(Workload workload) {
        return applies(workload).map(limits -> choice(workload, limits));
    }

    private Choice<FpuLimits> choice(Workload workload, FpuLimits limits) {
        Configuration configuration = Configuration.of(name()).with("pixel_block", mostPixels(workload.conv()));
        return new Choice<>(
                this, limits, configuration, "pixels side by side share inputs and weights of four channels (VFMA)");
    }

    /**
     * Depthwise convolutions of float data by {@code depthwise/fpu}: some neighbouring pixels of all channels in one
     * call, four channels at a time. If their number is not a multiple of four, a separate call computes the last four.
     *
     * <pre>
     * weights: per four channels [ky][kx][channel]; biases likewise
     * memory: no scratch
     * </pre>
     */
    private static final class Loops extends LayerCode {
        /** Channels of a block. */
        static final int CHANNELS = 4;

        private final FpuLimits limits;
        private final int pixels;
        private final Buffer weights;
        private final Buffer bias;

        /**
         * Makes tables.
         *
         * @param pixels most pixels computed together
         */
        Loops(ConvTask task, int pixels, FpuLimits limits) {
            super(task);
            this.limits = limits;
            this.pixels = pixels;
            Tables tables = task.tables();
            int taps = conv.taps();
            int[] order = channelOrder();
            float[] packed = new float[order.length * taps];
            float[] start = new float[order.length];
            for (int i = 0; i < order.length; i++) {
                int o = order[i];
                start[i] = conv.op().bias().map(b -> b.real(o)).orElse(0f);
                for (int tap = 0; tap < taps; tap++) {
                    int place = (i / CHANNELS * taps + tap) * CHANNELS + i % CHANNELS;
                    packed[place] = conv.weight().real(tap * conv.channels() + o);
                }
            }
            this.weights = tables.add("weight", packed);
            this.bias = tables.add("bias", start);
        }

        /** Blocks of four channels from the first on, then the last four if channels are left. */
        private int[] channelOrder() {
            int whole = whole() * CHANNELS;
            int[] order = new int[whole == conv.channels() ? whole : whole + CHANNELS];
            for (int i = 0; i < order.length; i++) {
                order[i] = i < whole ? i : conv.channels() - CHANNELS + i - whole;
            }
            return order;
        }

        /** Number of whole blocks of channels. */
        private int whole() {
            return conv.channels() / CHANNELS;
        }

        LayerLoops loops() {
            return new LayerLoops(body(), conv.macsInside()).sharing(pixels);
        }

        private Stmt body() {
            BlockBuilder body = new BlockBuilder();
            List<PixelTile.Run> runs = PixelTile.row(conv, pixels);
            rows.eachLine(body, conv.output(), (row, n, y) -> {
                WindowRows line = WindowRows.of(row, conv, rows, n, y);
                for (PixelTile.Run run : runs) {
                    row.block(tiles -> tiles(tiles, line, run));
                }
            });
            return body.build();
        }

        private void tiles(BlockBuilder block, WindowRows line, PixelTile.Run run) {
            Window w = conv.window();
            int channels = conv.channels();
            Expr in = add(line.in(), ((long) run.x() * w.strideW() + run.tile().begin() - w.padLeft()) * channels);
            Expr out = add(line.out(), (long) run.x() * channels);
            Expr tap = mul(line.ky().begin(), (long) w.kernelW() * CHANNELS);
            call(block, line, run, new Place(in, tap, 0, out, whole()));
            if (whole() * CHANNELS < channels) {
                int last = channels - CHANNELS;
                Expr weight = add(tap, (long) whole() * CHANNELS * conv.taps());
                call(block, line, run, new Place(add(in, last), weight, whole() * CHANNELS, add(out, last), 1));
            }
        }

        /** Where a number of blocks of channels begins. */
        private record Place(Expr in, Expr weight, int bias, Expr out, int blocks) {}

        private void call(BlockBuilder block, WindowRows line, PixelTile.Run run, Place at) {
            Window w = conv.window();
            int row = conv.input().dim(2) * conv.channels();
            List<Expr> scalars = new ArrayList<>(List.of(
                    imm(conv.channels()),
                    line.ky().count(),
                    line.before(),
                    imm((long) w.dilationH() * row),
                    imm((long) line.wrap() * row),
                    mul(sub(imm(w.kernelH()), line.ky().count()), (long) w.kernelW() * CHANNELS),
                    imm(at.blocks),
                    imm(run.count())));
            scalars.addAll(limits.arguments(conv.op()));
            String suffix = at.bias == 0 ? "" : "_rest";
            block.call(
                    kernel(run.tile()),
                    List.of(
                            block.view("in" + suffix, input, at.in),
                            block.view("w" + suffix, weights, at.weight),
                            block.view("b" + suffix, bias, imm(at.bias)),
                            block.mutableView("out" + suffix, output, at.out)),
                    scalars);
        }

        private Kernel kernel(PixelTile tile) {
            String name = "kiln_fpu_depthwise_" + tile.suffix() + limits.suffix();
            return limits.kernel(
                    name, 8, KernelSheet.text((out, html) -> JtefpuGenerated.render(out, html, name, tile, limits)));
        }
    }
}
