// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.depthwise;

import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT8;
import static io.kiln.base.DType.UINT8;
import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.mul;

import io.kiln.base.DType;
import io.kiln.ir.op.Window;
import io.kiln.kernels.depthwise.Jteportable_foursGenerated;
import io.kiln.kernels.depthwise.Jteportable_rowGenerated;
import io.kiln.lower.Intrinsics;
import io.kiln.lower.OperatorBuffers;
import io.kiln.lower.Rows;
import io.kiln.lower.Tables;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.convolution.BlockedLoops;
import io.kiln.schedule.parts.FourBitWeights;
import io.kiln.schedule.parts.PaddedRows;
import io.kiln.schedule.parts.ScalarRequantize;
import io.kiln.schedule.parts.WordMoves;
import io.kiln.schedule.space.Choice;
import io.kiln.schedule.space.Configuration;
import io.kiln.schedule.space.ConvTask;
import io.kiln.schedule.space.LayerLoops;
import io.kiln.schedule.space.Schedule;
import io.kiln.schedule.space.Space;
import io.kiln.schedule.space.Workload;
import io.kiln.target.CpuFeatures;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Intrinsic;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import io.kiln.tir.KernelSheet;
import io.kiln.tir.Stmt;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Depthwise convolutions optimized for size on cores without vectors. */
public record SmallDepthwiseSchedule(String name) implements Schedule<ScalarRequantize> {
    @Override
    public Optional<ScalarRequantize> applies(Workload workload) {
        return workload.isPlainInt8() && BlockedDepthwiseSchedule.suits(workload.conv())
                ? ScalarRequantize.of(workload.conv())
                : Optional.empty();
    }

    @Override
    public Space space(Workload workload, ScalarRequantize rescale) {
        return Space.of(name(), FourBitWeights.knob(workload.conv()));
    }

    @Override
    public LayerLoops lower(ConvTask task, ScalarRequantize rescale, Configuration configuration) {
        return new Loops(task, rescale, FourBitWeights.arePacked(configuration)).loops(task);
    }

    /**
     * If size is optimized; rescalings with corrections take 12 bytes per channel or more, and the alternative on a core with DSP
     * instructions takes 9.
     */
    public Optional<Choice<ScalarRequantize>> choose(Workload workload) {
        CpuFeatures features = workload.features();
        if (!workload.isForSize() || !BlockedLoops.isFor(workload)) {
            return Optional.empty();
        }
        Configuration configuration = FourBitWeights.packed(Configuration.of(name()), workload);
        String reason = "size: one kernel for all depthwise layers";
        return applies(workload)
                .filter(rescale -> rescale.correction().count() == 0 || !features.hasDsp())
                .map(rescale -> new Choice<>(this, rescale, configuration, reason));
    }

    /**
     * Depthwise convolution optimized for size: rows are copied with their padding, and one kernel for all layers computes
     * a row of the output, pixel by pixel, channel by channel.
     *
     * <pre>
     * weights: as in the model, [ky][kx][channel]; of four bits [pair of taps][channel], see {@link FourBitWeights}
     * scratch: the rows under one row of windows, see {@link PaddedRows}
     * </pre>
     */
    private static final class Loops {
        private static final Intrinsic SUMS = Intrinsic.inFile("depthwise/kiln_depthwise_sums", List.of(), DType.INT32);

        /** Channels that share the loop over taps. */
        private static final int FOUR = 4;

        private final ConvComputation conv;
        private final ScalarRequantize rescale;
        private final Buffer weights;
        private final Buffer constants;
        private final Buffer scratch;
        private final Buffer output;
        private final PaddedRows rows;
        private final boolean isPacked;

        /** Whether four channels are computed together. */
        private final boolean areFours;

        /**
         * Makes tables and reserves scratch.
         *
         * @param isPacked whether weights are packed two to a byte
         */
        Loops(ConvTask task, ScalarRequantize rescale, boolean isPacked) {
            Tables tables = task.tables();
            OperatorBuffers buffers = task.buffers();
            this.conv = task.conv();
            this.isPacked = isPacked;
            this.areFours = !isPacked && conv.channels() >= FOUR;
            this.rescale = rescale;
            this.weights = isPacked
                    ? FourBitWeights.halvesOfTaps(conv, tables)
                    : tables.add(
                            "weight",
                            conv.weight().type().dtype(),
                            conv.weight().data());
            this.constants = rescale.table(tables);
            this.output = buffers.output();
            this.scratch = buffers.scratch(DType.INT8, PaddedRows.elements(conv));
            this.rows = new PaddedRows(conv, buffers.argument(0), scratch, new WordMoves(false));
        }

        LayerLoops loops(ConvTask task) {
            return new LayerLoops(body(task.rows()), task.workload().macs());
        }

        private Stmt body(Rows range) {
            BlockBuilder body = new BlockBuilder();
            rows.fillAll(body);
            int rowElements = conv.output().dim(2) * conv.channels();
            range.eachLine(body, conv.output(), (row, n, y) -> {
                rows.copy(row, range, n, y);
                Expr line = add(mul(n, conv.output().dim(1)), range.outputLine(y));
                Buffer out = row.mutableView("out", output, mul(line, rowElements));
                row.call(kernel(), List.of(scratch, weights, constants, out), scalars());
            });
            return body.build();
        }

        private List<Expr> scalars() {
            Window w = conv.window();
            int channels = conv.channels();
            List<Expr> scalars = new ArrayList<>();
            scalars.add(imm(conv.output().dim(2)));
            scalars.add(imm(channels));
            scalars.add(imm((long) w.strideW() * channels));
            scalars.add(imm(w.kernelH()));
            scalars.add(imm(w.kernelW()));
            scalars.add(imm(PaddedRows.rowElements(conv)));
            scalars.add(imm((long) w.dilationW() * channels));
            scalars.addAll(rescale.scalars());
            return scalars;
        }

        private Kernel kernel() {
            List<DType> scalars = new ArrayList<>();
            scalars().forEach(s -> scalars.add(INT32));
            String name = (areFours ? "kiln_depthwise_fours" : "kiln_depthwise_row")
                    + (isPacked ? "_packed" : "")
                    + rescale.suffix();
            return new Kernel(
                    name,
                    List.of(
                            Pointer.in(INT8),
                            Pointer.in(isPacked ? UINT8 : INT8),
                            Pointer.in(INT32),
                            Pointer.out(INT8)),
                    scalars,
                    List.of(),
                    definition(name),
                    helpers());
        }

        private List<Intrinsic> helpers() {
            List<Intrinsic> helpers = new ArrayList<>(
                    List.of(Intrinsics.HIGH_WORD, rescale.isLimited() ? Intrinsics.CLAMP : Intrinsics.SATURATE_8));
            if (areFours) {
                helpers.add(SUMS);
            }
            return helpers;
        }

        private String definition(String name) {
            return KernelSheet.text(
                    areFours
                            ? (out, html) -> Jteportable_foursGenerated.render(out, html, name, rescale)
                            : (out, html) -> Jteportable_rowGenerated.render(out, html, name, rescale, isPacked));
        }
    }
}
