// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule;

import io.kiln.base.DType;
import io.kiln.base.Optimize;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.lower.layer.RowPhase;
import io.kiln.schedule.space.Choice;
import io.kiln.schedule.space.Configuration;
import io.kiln.schedule.space.ConvTask;
import io.kiln.schedule.space.LayerLoops;
import io.kiln.schedule.space.Schedule;
import io.kiln.schedule.space.Space;
import io.kiln.schedule.space.Workload;
import io.kiln.target.CpuFeatures;
import java.util.List;
import java.util.Optional;

/** Transposed convolutions of int8 and float data by the kernels of ordinary ones, by {@link TransposedConv}. */
final class TransposedSchedule implements Schedule<List<TransposedSchedule.Phase>> {
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
            Workload row = new Workload(
                    rows.conv(), TransposedConv.row(transposed.rows(), 0), transposed.features(), optimize);
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

    @Override
    public String name() {
        return "conv_phases";
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
    public Space space(Workload workload, List<Phase> phases) {
        return Space.of(name());
    }

    @Override
    public LayerLoops lower(ConvTask task, List<Phase> phases, Configuration configuration) {
        return new TransposedConv(task, phases).loops();
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
}
