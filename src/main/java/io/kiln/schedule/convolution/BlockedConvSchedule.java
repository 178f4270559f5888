// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.convolution;

import io.kiln.lower.Rows;
import io.kiln.lower.layer.BiasTable;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.parts.FourBitWeights;
import io.kiln.schedule.parts.ScalarRequantize;
import io.kiln.schedule.space.Choice;
import io.kiln.schedule.space.Configuration;
import io.kiln.schedule.space.ConvTask;
import io.kiln.schedule.space.Knob;
import io.kiln.schedule.space.LayerLoops;
import io.kiln.schedule.space.Schedule;
import io.kiln.schedule.space.Space;
import io.kiln.schedule.space.Workload;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.function.ToIntFunction;
import java.util.stream.Stream;

/** Convolutions for Cortex-M and RISC-V without SIMD, by {@link BlockedConv}. */
public final class BlockedConvSchedule implements Schedule<BlockedConvSchedule.Rescaling> {
    /** Whether results are rescaled separately, after the sums. */
    private static final String APART = "rescaled_apart";

    /** Whether instructions are interleaved so that few of them wait for the previous one. */
    private static final String INTERLEAVED = "interleaved";

    /** Whether two weights share a word, so that one multiplication makes two products. */
    private static final String PAIRS = "weight_pairs";

    /**
     * The conversion of sums to output elements.
     *
     * @param proven the rescaling by one multiplication; empty for the reference's own steps
     */
    record Rescaling(Optional<ScalarRequantize> proven) {}

    @Override
    public String name() {
        return "conv_blocked";
    }

    @Override
    public Optional<Rescaling> applies(Workload workload) {
        if (!workload.isPlainInt8()) {
            return Optional.empty();
        }
        boolean hasTogether = !together(workload).isEmpty();
        Rescaling rescaling = new Rescaling(hasTogether ? BlockedLoops.rescale(workload) : Optional.empty());
        return Optional.of(rescaling).filter(r -> !loops(workload, r, false).isEmpty());
    }

    /**
     * The inner loops for a layer.
     *
     * @param inPairs those with pairs of weights, or all others
     */
    private static List<BlockedSums> loops(Workload workload, Rescaling rescaling, boolean inPairs) {
        if (inPairs) {
            boolean isPlain = !workload.conv().depthwise() && workload.conv().groups() == 1;
            return (isPlain ? BlockedLoops.inPairs(workload) : List.<BlockedSums>of())
                    .stream()
                            .filter(sums -> suits(workload, sums))
                            .filter(sums -> sums.apart().isPresent()
                                    ? BiasTable.isFoldedIfFilled(workload.conv())
                                    : rescaling.proven.isPresent())
                            .toList();
        }
        Stream<BlockedSums> together = rescaling.proven.isPresent() ? together(workload).stream() : Stream.of();
        return Stream.concat(together, apart(workload).stream()).toList();
    }

    /** Those whose kernels rescale, the best first. */
    private static List<BlockedSums> together(Workload workload) {
        return BlockedLoops.of(workload).stream()
                .filter(sums -> suits(workload, sums))
                .toList();
    }

    private static List<BlockedSums> apart(Workload workload) {
        return BlockedLoops.apart(workload).stream()
                .filter(sums -> suits(workload, sums))
                .filter(sums -> BiasTable.isFoldedIfFilled(workload.conv()))
                .toList();
    }

    /** Whether the shape fits: not grouped, a block of pixels in a run. */
    private static boolean suits(Workload workload, BlockedSums sums) {
        ConvComputation conv = workload.conv();
        return conv.groups() == 1
                && !conv.depthwise()
                && conv.kernelZeroPoint() == 0
                && run(conv, workload.rows()) >= sums.pixels()
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
    public Space space(Workload workload, Rescaling rescaling) {
        List<BlockedSums> loops = new ArrayList<>(loops(workload, rescaling, false));
        loops.addAll(loops(workload, rescaling, true));
        List<Configuration> all = loops.stream().map(this::configuration).toList();
        return Space.of(
                        name(),
                        Knob.of("pixels", sizes(loops, BlockedSums::pixels)),
                        Knob.of("channels", sizes(loops, BlockedSums::channels)),
                        FourBitWeights.knob(workload.conv()),
                        flag(APART, loops, sums -> sums.apart().isPresent()),
                        flag(INTERLEAVED, loops, BlockedSums::interleaved),
                        flag(PAIRS, loops, sums -> sums.weightPairs().isPresent()))
                .where(all::contains);
    }

    private static Knob flag(String name, List<BlockedSums> loops, Predicate<BlockedSums> isOn) {
        return loops.stream().anyMatch(isOn) ? Knob.flag(name, false, true) : Knob.flag(name, false);
    }

    private static int[] sizes(List<BlockedSums> loops, ToIntFunction<BlockedSums> size) {
        return loops.stream().mapToInt(size).sorted().distinct().toArray();
    }

    private Configuration configuration(BlockedSums sums) {
        Configuration sizes =
                Configuration.of(name()).with("pixels", sums.pixels()).with("channels", sums.channels());
        return FourBitWeights.packed(sizes, sums.pairsWeights())
                .withFlag(APART, sums.apart().isPresent())
                .withFlag(INTERLEAVED, sums.interleaved())
                .withFlag(PAIRS, sums.weightPairs().isPresent());
    }

    @Override
    public LayerLoops lower(ConvTask task, Rescaling rescaling, Configuration configuration) {
        BlockedSums sums = loops(task.workload(), rescaling, configuration.isOn(PAIRS)).stream()
                .filter(s -> configuration(s).equals(configuration))
                .findFirst()
                .orElseThrow();
        return new BlockedConv(task, sums, rescaling.proven).loops(task);
    }

    /** Uses the core's best loop, unless weights should be packed two to a byte for size and this loop does not support that. */
    public Optional<Choice<Rescaling>> choose(Workload workload) {
        if (!BlockedLoops.isFor(workload) || !workload.isPlainInt8()) {
            return Optional.empty();
        }
        BlockedSums best = BlockedLoops.of(workload).get(0);
        boolean packs = best.pairsWeights() || !FourBitWeights.pack(workload);
        List<BlockedSums> apart = apart(workload);
        boolean isFew = BlockedLoops.areFew(workload.conv()) && !apart.isEmpty();
        if (packs && !isFew && suits(workload, best)) {
            Optional<ScalarRequantize> proven = BlockedLoops.rescale(workload);
            if (proven.isPresent()) {
                String reason = "no SIMD: blocks of pixels and channels share loads";
                return Optional.of(choice(best, proven, reason));
            }
        }
        String reason = "no SIMD: blocks share loads; few pixels or channels, or no single multiply proven to rescale";
        return apart.stream().findFirst().map(sums -> choice(sums, Optional.empty(), reason));
    }

    private Choice<Rescaling> choice(BlockedSums sums, Optional<ScalarRequantize> proven, String reason) {
        return new Choice<>(this, new Rescaling(proven), configuration(sums), reason);
    }
}
