// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule;

import io.kiln.base.Optimize;
import io.kiln.ir.op.Layer;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Window;
import io.kiln.lower.Callee;
import io.kiln.lower.ElementStyle;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.LoweredOperator;
import io.kiln.lower.Nests;
import io.kiln.lower.OperatorBuffers;
import io.kiln.lower.OperatorLowering;
import io.kiln.lower.RowDependency;
import io.kiln.lower.Rows;
import io.kiln.lower.Tables;
import io.kiln.lower.call.CallLowerings;
import io.kiln.lower.element.ElementwiseLowering;
import io.kiln.lower.layer.ComputedWeightsLowering;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.lower.layer.LayerLowerings;
import io.kiln.lower.movement.MovementLowerings;
import io.kiln.lower.reduce.SumLowerings;
import io.kiln.lower.signal.FilterBankLowering;
import io.kiln.lower.signal.SignalLowering;
import io.kiln.schedule.dense.PanelKernels;
import io.kiln.schedule.dense.RecurrentKernels;
import io.kiln.schedule.elementwise.ElementSlopes;
import io.kiln.schedule.elementwise.ElementwiseAdd;
import io.kiln.schedule.parts.WordMoves;
import io.kiln.schedule.space.Choice;
import io.kiln.schedule.space.ConvTask;
import io.kiln.schedule.space.LayerLoops;
import io.kiln.schedule.space.Workload;
import io.kiln.target.CpuFeatures;
import io.kiln.target.Target;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The only place that chooses a schedule for an operator on a target, and thereby its scratch. */
public final class Dispatch {
    private static final Map<Class<? extends Op>, OperatorLowering<Op>> BY_OPERATOR = Stream.of(
                    ElementwiseLowering.ALL,
                    LayerLowerings.ALL,
                    SumLowerings.ALL,
                    MovementLowerings.ALL,
                    SignalLowering.ALL,
                    FilterBankLowering.ALL,
                    CallLowerings.ALL)
            .flatMap(family -> family.entrySet().stream())
            .collect(Collectors.toUnmodifiableMap(Map.Entry::getKey, Map.Entry::getValue));

    private final CpuFeatures features;
    private final Optimize optimize;
    private final OperatorLowering.Context context;
    private final LayerChoices choices;
    private final Map<String, LayerGoal> goals;
    private final ChosenSchedules chosen = new ChosenSchedules();

    public Dispatch(Target target, Optimize optimize) {
        this(target, optimize, List.of(), LayerChoices.RULES);
    }

    /** With the same goal for all layers. */
    public Dispatch(Target target, Optimize optimize, List<Callee> callees, LayerChoices choices) {
        this(target, optimize, callees, choices, Map.of());
    }

    /**
     * For a function whose operators call others, with choices that override the rules.
     *
     * @param callees the called functions, by index
     * @param choices asked first for each layer
     * @param goals of layers that are not the build's, by the names of their functions
     */
    public Dispatch(
            Target target,
            Optimize optimize,
            List<Callee> callees,
            LayerChoices choices,
            Map<String, LayerGoal> goals) {
        this.choices = choices;
        this.goals = Map.copyOf(goals);
        this.features = target.features();
        this.optimize = optimize;
        this.context = new OperatorLowering.Context(
                RecurrentKernels.of(features),
                PanelKernels.of(features),
                (values, tables) -> PanelKernels.of(features, values, tables),
                callees,
                new ElementStyle(
                        features.hasLongMultiply(),
                        features.hasLongMultiply() && optimize != Optimize.SIZE,
                        features.family() == CpuFeatures.Family.CORTEX_M,
                        features.hasFpu(),
                        optimize == Optimize.SIZE));
    }

    /** Lowers a fused operator to loops over all rows of its output. */
    public LoweredOperator lower(FusedOperator op) {
        return lower(op, Rows.whole(op.type().shape()));
    }

    /** Lowers a fused operator to loops over a range of rows. */
    public LoweredOperator lower(FusedOperator op, Rows rows) {
        return ElementwiseAdd.lower(op, rows, features, optimize)
                .or(() -> ElementSlopes.lower(op, rows, features, optimize))
                .orElseGet(() -> lowerRoot(op, rows));
    }

    private LoweredOperator lowerRoot(FusedOperator op, Rows rows) {
        Op root = op.root().op();
        if (root instanceof Layer) {
            return hasChoice(op)
                    ? convolution(op, chosen.computation(op), rows)
                    : new ComputedWeightsLowering(op).lower(rows);
        }
        OperatorLowering<Op> lowering = BY_OPERATOR.get(root.getClass());
        if (lowering == null) {
            throw new IllegalStateException("there is no lowering of " + root.name());
        }
        LoweredOperator lowered = lowering.lower(op, root, rows, context);
        return lowered.with(WordMoves.of(features).withoutLibrary(lowered.function()));
    }

    /** The operators that are lowered without a choice of schedules; {@linkplain Layer layers} have one. */
    public static Set<Class<? extends Op>> operators() {
        return BY_OPERATOR.keySet();
    }

    private LoweredOperator convolution(FusedOperator op, ConvComputation conv, Rows rows) {
        LayerGoal goal = goals.getOrDefault(op.name(), LayerGoal.of(optimize));
        Workload workload = goal.workload(conv, rows, features);
        return lower(op, workload, chosen.of(op, rows, () -> choice(op, workload)));
    }

    private Choice<?> choice(FusedOperator op, Workload workload) {
        return choices.choose(op, workload).orElseGet(() -> LayerSchedules.choose(workload));
    }

    /** Whether there are schedules to choose from: the operator is a layer with constant weights. */
    public static boolean hasChoice(FusedOperator op) {
        return op.root().op() instanceof Layer && !ComputedWeightsLowering.suits(op);
    }

    /** Lowers a convolution or dense layer with a given choice. */
    public static LoweredOperator lower(FusedOperator op, Workload workload, Choice<?> choice) {
        Tables tables = new Tables(op.name());
        OperatorBuffers buffers = new OperatorBuffers(op, tables);
        LayerLoops loops = choice.lower(new ConvTask(workload, tables, buffers));
        return Nests.operator(
                        buffers,
                        workload.rows(),
                        List.of(dependency(op, workload.conv())),
                        loops.body(),
                        choice.configuration().text())
                .executing(loops.executedMacs())
                .traversing(passes(workload.conv(), loops))
                .inBlocksOf(loops.rowBlock())
                .because(choice.reason());
    }

    private static long passes(ConvComputation conv, LayerLoops loops) {
        long pixels = conv.output().elements() / conv.channels();
        return (pixels + loops.sharing() - 1) / loops.sharing();
    }

    private static RowDependency dependency(FusedOperator op, ConvComputation conv) {
        Window w = conv.window();
        boolean byRows = op.type().shape().rank() == 4 && op.type().shape().dim(0) == 1;
        return byRows && !conv.isTransposed()
                ? new RowDependency.Window(
                        w.strideH(), w.padTop(), w.spanH(), conv.input().dim(1))
                : new RowDependency.All(Rows.count(op.rootTypes().get(0).shape()));
    }

    /**
     * Caches the computations of a function's layers and the schedules chosen for them. A layer is lowered several times (whole, by rows,
     * and in the rings of its plan), and proving that its rescaling is exact takes longer than all of these lowerings. A choice depends on
     * the rows only by whether they are all rows of the layer, one after another in memory.
     */
    private static final class ChosenSchedules {
        private final IdentityHashMap<FusedOperator, ConvComputation> computations = new IdentityHashMap<>();
        private final IdentityHashMap<FusedOperator, Choice<?>> whole = new IdentityHashMap<>();
        private final IdentityHashMap<FusedOperator, Choice<?>> byRows = new IdentityHashMap<>();

        /** The computation of an operator, with its proofs. */
        synchronized ConvComputation computation(FusedOperator op) {
            return computations.computeIfAbsent(op, ConvComputation::of);
        }

        /** The choice for an operator, which is made when it is first asked for. */
        synchronized Choice<?> of(FusedOperator op, Rows rows, Supplier<Choice<?>> choice) {
            boolean isWhole = rows.areContiguous() && rows.parameters().isEmpty();
            Map<FusedOperator, Choice<?>> known = isWhole ? whole : byRows;
            Choice<?> found = known.get(op);
            if (found == null) {
                found = choice.get();
                known.put(op, found);
            }
            return found;
        }
    }
}
