// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule;

import io.kiln.lower.OperatorBuffers;
import io.kiln.lower.Tables;
import io.kiln.schedule.parts.FourBitWeights;
import io.kiln.schedule.space.Choice;
import io.kiln.schedule.space.Configuration;
import io.kiln.schedule.space.ConvTask;
import io.kiln.schedule.space.Schedule;
import io.kiln.schedule.space.Space;
import io.kiln.schedule.space.Workload;
import io.kiln.tir.CodeBytes;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Keeps the loops of a layer as small as the cache that its code runs through. The loops over pixels, channels and inputs are in a micro-kernel,
 * so that the bytes of the largest one are those that a loop needs.
 */
final class LoopCode {
    /** The part of a cache that is left to the code around a kernel. */
    private static final int CALLER = 32;

    private final Workload workload;

    /** What was counted: a schedule is lowered and its kernel printed to count it. */
    private final Map<Configuration, Integer> counted = new HashMap<>();

    LoopCode(Workload workload) {
        this.workload = workload;
    }

    /** The configurations whose loops fit. */
    <E> Space fitting(Schedule<E> schedule, E evidence) {
        Space space = schedule.space(workload, evidence);
        return workload.codeBytes().isEmpty()
                ? space
                : space.where(configuration -> fits(schedule, evidence, configuration));
    }

    /** Whether the loops of a choice fit. */
    <E> boolean fits(Choice<E> choice) {
        return workload.codeBytes().isEmpty() || fits(choice.schedule(), choice.evidence(), choice.configuration());
    }

    private <E> boolean fits(Schedule<E> schedule, E evidence, Configuration configuration) {
        int most = workload.codeBytes().orElse(Integer.MAX_VALUE);
        return bytes(schedule, evidence, configuration) <= most - most / CALLER;
    }

    /**
     * The choice itself, if its loops fit; otherwise the configuration of its schedule whose loops fit and {@linkplain Schedule#loopEnds end} in the
     * fewest cycles, if possible one of the same {@linkplain Space#TILE tile}. If there is none, the smallest.
     */
    <E> Choice<E> fitted(Choice<E> choice) {
        if (fits(choice)) {
            return choice;
        }
        Schedule<E> schedule = choice.schedule();
        E evidence = choice.evidence();
        List<Configuration> all =
                new ArrayList<>(schedule.space(workload, evidence).configurations());
        all.removeIf(configuration -> !isLike(configuration, choice.configuration()));
        Collections.reverse(all);
        Optional<String> tile = choice.configuration().value(Space.TILE);
        all.sort(Comparator.comparing((Configuration configuration) ->
                        !configuration.value(Space.TILE).equals(tile))
                .thenComparing(configuration -> schedule.loopEnds(workload, evidence, configuration)));
        for (Configuration configuration : all) {
            if (fits(schedule, evidence, configuration)) {
                return choice.with(configuration);
            }
        }
        return all.stream()
                .min(Comparator.comparing(configuration -> bytes(schedule, evidence, configuration)))
                .map(choice::with)
                .orElse(choice);
    }

    /** Whether two configurations have the same flags, except that for short code, and the same table of weights. */
    private static boolean isLike(Configuration a, Configuration b) {
        return flags(a).equals(flags(b)) && FourBitWeights.arePacked(a) == FourBitWeights.arePacked(b);
    }

    private static List<String> flags(Configuration configuration) {
        return configuration.settings().stream()
                .filter(setting -> setting.value().isEmpty())
                .map(Configuration.Setting::knob)
                .filter(flag -> !flag.equals(Space.SHORT))
                .toList();
    }

    private <E> int bytes(Schedule<E> schedule, E evidence, Configuration configuration) {
        return counted.computeIfAbsent(configuration, each -> {
            Tables tables = new Tables("");
            ConvTask task = new ConvTask(
                    workload, tables, new OperatorBuffers(workload.conv().op(), tables));
            return CodeBytes.ofLargestKernel(
                    schedule.lower(task, evidence, each).body());
        });
    }
}
