// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.blocked;

import io.kiln.ir.op.Window;
import io.kiln.lower.Rows;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.parts.FourBitWeights;
import io.kiln.schedule.parts.ScalarRescale;
import io.kiln.schedule.space.Choice;
import io.kiln.schedule.space.Configuration;
import io.kiln.schedule.space.ConvTask;
import io.kiln.schedule.space.Knob;
import io.kiln.schedule.space.LayerLoops;
import io.kiln.schedule.space.Schedule;
import io.kiln.schedule.space.Space;
import io.kiln.schedule.space.Workload;
import java.util.List;
import java.util.Optional;

/** Convolutions for Cortex-M and RISC-V without SIMD, by {@link BlockedConv}. */
public final class BlockedConvSchedule implements Schedule<ScalarRescale> {
    @Override
    public String name() {
        return "conv_blocked";
    }

    @Override
    public Optional<ScalarRescale> applies(Workload workload) {
        return workload.isPlainInt8() && !loops(workload).isEmpty()
                ? ScalarRescale.of(workload.conv())
                : Optional.empty();
    }

    /** The inner loops for a layer, the best first. */
    private static List<BlockedSums> loops(Workload workload) {
        return BlockedSums.of(workload).stream()
                .filter(sums -> suits(workload, sums))
                .toList();
    }

    /** Whether the shape fits: not grouped, a window's row contiguous in the input, a block of pixels in a run. */
    private static boolean suits(Workload workload, BlockedSums sums) {
        ConvComputation conv = workload.conv();
        Rows rows = workload.rows();
        Window w = conv.window();
        return conv.groups() == 1
                && !conv.depthwise()
                && conv.kernelZeroPoint() == 0
                && (w.dilationW() == 1 || w.kernelW() == 1)
                && run(conv, rows) >= sums.pixels()
                && !(sums.pairsInputs() && hasLeast(conv));
    }

    /** Whether a weight is -128; two of its products with -128 overflow 16 bits. */
    private static boolean hasLeast(ConvComputation conv) {
        for (int i = 0; i < conv.weight().data().size(); i++) {
            if (conv.weight().data().buffer().get(i) == Byte.MIN_VALUE) {
                return true;
            }
        }
        return false;
    }

    /**
     * Least number of consecutive pixels in the output: all of them, or a row if the caller gives rows or holds them in
     * rings.
     */
    private static int run(ConvComputation conv, Rows rows) {
        int width = conv.output().dim(2);
        return rows.areContiguous() && rows.parameters().isEmpty()
                ? width * conv.output().dim(1)
                : width;
    }

    @Override
    public Space space(Workload workload, ScalarRescale rescale) {
        List<Configuration> all =
                loops(workload).stream().map(this::configuration).toList();
        int[] pixels = loops(workload).stream()
                .mapToInt(BlockedSums::pixels)
                .sorted()
                .distinct()
                .toArray();
        int[] channels = loops(workload).stream()
                .mapToInt(BlockedSums::channels)
                .sorted()
                .distinct()
                .toArray();
        Knob bits = FourBitWeights.knob(workload.conv());
        return Space.of(name(), Knob.of("pixels", pixels), Knob.of("channels", channels), bits)
                .where(all::contains);
    }

    private Configuration configuration(BlockedSums sums) {
        Configuration sizes =
                Configuration.of(name()).with("pixels", sums.pixels()).with("channels", sums.channels());
        return FourBitWeights.packed(sizes, sums.pairsWeights());
    }

    @Override
    public LayerLoops lower(ConvTask task, ScalarRescale rescale, Configuration configuration) {
        BlockedSums sums = loops(task.workload()).stream()
                .filter(s -> configuration(s).equals(configuration))
                .findFirst()
                .orElseThrow();
        return new BlockedConv(task, sums, rescale).loops(task);
    }

    /** Uses the core's best loop, unless size is optimized and weights could share bytes but do not in it. */
    public Optional<Choice<ScalarRescale>> choose(Workload workload) {
        if (!BlockedSums.isFor(workload) || !workload.isPlainInt8()) {
            return Optional.empty();
        }
        BlockedSums best = BlockedSums.of(workload).get(0);
        boolean packs = best.pairsWeights() || !FourBitWeights.pack(workload);
        String reason = "no SIMD: blocks of pixels and channels share loads";
        return packs && suits(workload, best)
                ? applies(workload).map(rescale -> new Choice<>(this, rescale, configuration(best), reason))
                : Optional.empty();
    }
}
