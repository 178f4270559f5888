// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.div;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.mul;

import io.kiln.base.DType;
import io.kiln.base.Optimize;
import io.kiln.lower.Rows;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.lower.layer.RowPhase;
import io.kiln.schedule.parts.WordMoves;
import io.kiln.schedule.space.Choice;
import io.kiln.schedule.space.Configuration;
import io.kiln.schedule.space.ConvTask;
import io.kiln.schedule.space.LayerCode;
import io.kiln.schedule.space.LayerLoops;
import io.kiln.schedule.space.Schedule;
import io.kiln.schedule.space.Workload;
import io.kiln.target.CpuFeatures;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Transposed convolutions of int8 and float data by the kernels of ordinary ones. */
record TransposedSchedule(String name) implements Schedule<List<TransposedSchedule.Phase>> {
    /** Layers with fewer multiply-accumulates run in plain loops if size is optimized and the core has no small kernel. */
    private static final long LEAST_MACS = 5000;

    /**
     * Some rows of the output.
     *
     * @param rows the ordinary convolution that computes them
     * @param optimize what it is optimized for
     * @param choice the choice for it
     */
    record Phase(RowPhase rows, Optimize optimize, Choice<?> choice) {
        private static Phase of(RowPhase rows, Workload transposed, Optimize optimize) {
            Workload row = new Workload(rows.conv(), Loops.row(transposed.rows(), 0), transposed.features(), optimize);
            return new Phase(rows, optimize, LayerSchedules.choose(row));
        }

        /** If size is optimized, and the core's small kernels compute whole outputs only, by those for speed. */
        static Phase of(RowPhase rows, Workload transposed) {
            Phase phase = of(rows, transposed, transposed.optimize());
            boolean isSmall = transposed.conv().macsInside() < LEAST_MACS;
            return phase.isPlain() && !isSmall ? of(rows, transposed, Optimize.SPEED) : phase;
        }

        boolean isPlain() {
            return LayerSchedules.isPlain(choice);
        }
    }
    /** If a micro-kernel computes each phase; those of int16 data take transposed convolutions as they are. */
    @Override
    public Optional<List<Phase>> applies(Workload workload) {
        ConvComputation conv = workload.conv();
        boolean suits = conv.isTransposed()
                && conv.dataType() != DType.INT16
                && conv.op().sumScale().isEmpty();
        if (!suits) {
            return Optional.empty();
        }
        List<RowPhase> ofRows = RowPhase.of(conv.op());
        if (conv.isFloat() && areFilled(conv, ofRows)) {
            return Optional.empty();
        }
        List<Phase> phases =
                ofRows.stream().map(rows -> Phase.of(rows, workload)).toList();
        return Optional.of(phases).filter(all -> all.stream().noneMatch(Phase::isPlain));
    }

    /** Whether the phases' kernels have more weights than the model: zeros, whose products with infinities would be NaN. */
    private static boolean areFilled(ConvComputation conv, List<RowPhase> phases) {
        int weights = phases.stream()
                .mapToInt(phase -> phase.conv().weight().elements())
                .sum();
        return weights > conv.op().root().constant(1).elements();
    }

    @Override
    public LayerLoops lower(ConvTask task, List<Phase> phases, Configuration configuration) {
        return new Loops(task, phases).loops();
    }

    /** Unless the core's kernels gain less than the rows cost that have columns to be cropped. */
    Optional<Choice<List<Phase>>> choose(Workload workload) {
        return applies(workload).filter(phases -> pays(workload, phases)).map(phases -> {
            String reason = "ordinary convolutions whose channels are those of neighbouring columns: "
                    + phases.get(0).choice().reason();
            return new Choice<>(this, phases, Configuration.of(name()), reason);
        });
    }

    /** Multiplications of RV32 take so long that plain loops lose little else; Armv7-M's blocks of pixels gain a third. */
    private static boolean pays(Workload workload, List<Phase> phases) {
        CpuFeatures features = workload.features();
        if (features.hasDsp() || !features.hasLongMultiply()) {
            return true;
        }
        return features.family() == CpuFeatures.Family.CORTEX_M
                && phases.get(0).rows().isWhole(workload.conv().output());
    }

    /**
     * A transposed convolution, row by row: the rows of each {@linkplain RowPhase phase} by the loops of an ordinary convolution.
     *
     * <pre>
     * scratch: a row with the columns that are cropped, if there are any; that of the convolutions, which take turns
     * </pre>
     */
    private static final class Loops extends LayerCode {
        private final ConvTask task;
        private final List<Phase> phases;
        private final Optional<Buffer> row;

        /** Reserves scratch for a row that is cropped. */
        Loops(ConvTask task, List<Phase> phases) {
            super(task);
            this.task = task;
            this.phases = phases;
            ConvComputation first = phases.get(0).rows().conv();
            this.row = phases.get(0).rows().isWhole(conv.output())
                    ? Optional.empty()
                    : Optional.of(task.buffers()
                            .scratch(output.dtype(), (long) first.output().dim(2) * first.channels()));
        }

        /** The range of one row of a phase, which is alone in its buffer. */
        static Rows row(Rows rows, Expr row) {
            return new Rows(row, add(row, 1), List.of(), rows.inputRings(), 1, false, 1);
        }

        /** The same for a known row. */
        static Rows row(Rows rows, int row) {
            return row(rows, imm(row));
        }

        LayerLoops loops() {
            int images = conv.output().dim(0);
            BlockBuilder body = new BlockBuilder();
            List<Long> macs = new ArrayList<>();
            body.loop("image", images, (batch, n) -> {
                Buffer in = images == 1
                        ? input
                        : batch.view("image_in", input, mul(n, conv.input().elements() / images));
                for (int i = 0; i < phases.size(); i++) {
                    String suffix = i == 0 ? "" : "_" + i;
                    macs.add(phase(batch, new Part(phases.get(i), suffix, in), n));
                }
            });
            return new LayerLoops(
                    body.build(),
                    images * macs.stream().mapToLong(Long::longValue).sum());
        }

        /**
         * The rows of a phase.
         *
         * @param suffix of the names of its tables
         * @param in the image
         */
        private record Part(Phase phase, String suffix, Buffer in) {
            RowPhase rows() {
                return phase.rows();
            }
        }

        /** Emits a phase; the result is the number of its multiply-accumulates. */
        private long phase(BlockBuilder batch, Part part, Expr n) {
            RowPhase rows = part.rows();
            Expr begin = row(rows, task.rows().firstLine(conv.output()));
            Expr end = row(rows, task.rows().endLine(conv.output()));
            List<LayerLoops> loops = new ArrayList<>();
            batch.loop("phase_row", begin, end, (block, j) -> {
                Expr y = block.let("phase_y", add(mul(j, rows.stride()), rows.first()));
                Expr line = add(mul(n, conv.output().dim(1)), task.rows().outputLine(y));
                int elements = conv.output().dim(2) * conv.channels();
                Buffer out = block.mutableView("phase_out", output, mul(line, elements));
                LayerLoops own = part.phase.choice().lower(task(part, j, row.orElse(out)));
                block.add(own.body());
                loops.add(own);
                row.ifPresent(uncropped -> {
                    Buffer first = block.view("phase_in", uncropped, imm((long) rows.cropped() * conv.channels()));
                    WordMoves.of(task.features()).copyUnaligned(block, out, first, elements);
                });
            });
            return loops.stream().mapToLong(LayerLoops::executedMacs).sum();
        }

        private ConvTask task(Part part, Expr j, Buffer out) {
            Workload workload =
                    new Workload(part.rows().conv(), row(task.rows(), j), task.features(), part.phase.optimize());
            return new ConvTask(
                    workload,
                    task.tables().ofPart(part.suffix),
                    task.buffers().part(part.in, out, row.stream().toList()));
        }

        /** The first row of a phase that is not before a row of the output. */
        private static Expr row(RowPhase rows, Expr y) {
            return div(add(y, rows.stride() - 1 - rows.first()), imm(rows.stride()));
        }
    }
}
