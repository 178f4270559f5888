// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule;

import io.kiln.base.Optimize;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.Rows;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.space.Choice;
import io.kiln.schedule.space.Workload;
import io.kiln.target.CpuFeatures;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Choices that depend on the other layers of a model: if size is optimized, a kernel for all convolutions pays only if there are several; otherwise
 * {@link SmallConvolutions}.
 */
public final class OnlyConvolution implements LayerChoices {
    private OnlyConvolution() {}

    /** The choices for a model with these operators on a core. */
    public static LayerChoices of(List<FusedOperator> operators, Optimize optimize, CpuFeatures features) {
        boolean isOne = optimize == Optimize.SIZE
                && operators.stream()
                                .filter(Dispatch::hasChoice)
                                .map(ConvComputation::of)
                                .filter(OnlyConvolution::isConvolution)
                                .count()
                        == 1;
        return isOne ? new OnlyConvolution() : SmallConvolutions.of(operators, optimize, features);
    }

    private static boolean isConvolution(ConvComputation conv) {
        return !conv.depthwise() && conv.output().dim(1) * conv.output().dim(2) > 1;
    }

    @Override
    public Optional<Choice<?>> choose(FusedOperator op, Workload workload) {
        return isConvolution(workload.conv()) ? LayerSchedules.chooseOnly(workload) : Optional.empty();
    }

    /**
     * A choice that depends on the other layers of a model: the convolutions that are the least part of its work share a kernel, which takes about as many
     * bytes as one of their own and a third more cycles.
     *
     * @param names of the functions of those convolutions
     */
    private record SmallConvolutions(Set<String> names) implements LayerChoices {
        /** The part of a model's multiply-accumulates that they have at most. */
        private static final int PART = 80;

        /** Kernels that must become one, so that it pays. */
        private static final int LEAST_KERNELS = 3;

        SmallConvolutions {
            names = Set.copyOf(names);
        }

        /** What kernels of convolutions depend on. */
        private record Form(int inputs, int outputs, int height, int width) {
            static Form of(ConvComputation conv) {
                return new Form(
                        conv.channelsPerGroup(),
                        conv.channels(),
                        conv.window().kernelH(),
                        conv.window().kernelW());
            }
        }

        /** The choices for a model with these operators. */
        static LayerChoices of(List<FusedOperator> operators, Optimize optimize, CpuFeatures features) {
            if (optimize != Optimize.SPEED || !features.hasDsp() || features.hasMve()) {
                return RULES;
            }
            List<Workload> layers = operators.stream()
                    .filter(Dispatch::hasChoice)
                    .map(ConvComputation::of)
                    .map(conv -> new Workload(conv, Rows.whole(conv.op().type().shape()), features, optimize))
                    .toList();
            long left = layers.stream().mapToLong(Workload::macs).sum() / PART;
            List<Workload> sorted = new ArrayList<>(layers);
            sorted.sort(Comparator.comparing(Workload::macs));
            Set<String> small = new HashSet<>();
            for (Workload layer : sorted) {
                if (layer.macs() <= left && LayerSchedules.chooseSmall(layer).isPresent()) {
                    left -= layer.macs();
                    small.add(layer.conv().op().name());
                }
            }
            Map<Boolean, Set<Form>> forms = layers.stream()
                    .map(Workload::conv)
                    .filter(conv -> !conv.depthwise())
                    .collect(Collectors.partitioningBy(
                            conv -> small.contains(conv.op().name()),
                            Collectors.mapping(Form::of, Collectors.toSet())));
            forms.get(true).removeAll(forms.get(false));
            return forms.get(true).size() < LEAST_KERNELS ? RULES : new SmallConvolutions(small);
        }

        @Override
        public Optional<Choice<?>> choose(FusedOperator op, Workload workload) {
            return names.contains(op.name()) ? LayerSchedules.chooseSmall(workload) : Optional.empty();
        }
    }
}
