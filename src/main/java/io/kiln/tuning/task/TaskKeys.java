// SPDX-License-Identifier: Apache-2.0
package io.kiln.tuning.task;

import io.kiln.base.Optimize;
import io.kiln.ir.op.Window;
import io.kiln.ir.op.layer.Dense;
import io.kiln.ir.op.layer.QnnDense;
import io.kiln.ir.type.TensorType;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.target.Target;
import io.kiln.tuning.record.RecordValue;
import io.kiln.tuning.record.RecordValue.Items;
import io.kiln.tuning.record.RecordValue.Numeric;
import io.kiln.tuning.record.RecordValue.Text;
import io.kiln.tuning.record.TuningRecord.TaskKey;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Names layers in records: the template {@code kiln.<family>.<core>}, and as arguments types of data and weight, strides, padding, dilation,
 * groups, type of the result, the fused operators, what the build optimizes for, and the objective of the search.
 */
public final class TaskKeys {
    /** The prefix of Kiln's templates. */
    public static final String PREFIX = "kiln.";

    private TaskKeys() {}

    /** The key of a layer. */
    public static TaskKey of(
            FusedOperator op, ConvComputation conv, Target target, Optimize optimize, Objective objective) {
        Window window = conv.window();
        return new TaskKey(
                target.text(),
                PREFIX + family(op, conv) + "." + core(target),
                List.of(
                        tensor(op.rootTypes().get(0)),
                        tensor(op.root().constant(1).type()),
                        Items.of(window.strides()),
                        Items.of(window.padding()),
                        Items.of(window.dilation()),
                        Numeric.of(conv.groups()),
                        new Text(op.type().dtype().text()),
                        new Text(op.op()),
                        new Text(optimize.text()),
                        new Text(objective.text())));
    }

    /** The arguments that identify the layer itself: all but the objective. */
    public static String layer(TaskKey key) {
        int objective = Math.max(0, key.args().size() - 1);
        return new TaskKey(key.target(), key.template(), key.args().subList(0, objective)).workload();
    }

    /** The text of the objective; empty for a task of another tool, which may have none. */
    public static String objective(TaskKey key) {
        List<RecordValue> args = key.args();
        return !args.isEmpty() && args.get(args.size() - 1) instanceof Text text ? text.value() : "";
    }

    /** The template without the core, such as {@code kiln.conv2d}. */
    public static String family(TaskKey key) {
        int first = key.template().indexOf('.');
        int core = key.template().indexOf('.', first + 1);
        return core < 0 ? key.template() : key.template().substring(0, core);
    }

    private static String family(FusedOperator op, ConvComputation conv) {
        if (conv.isTransposed()) {
            return "conv2d_transpose";
        }
        if (conv.depthwise()) {
            return "depthwise_conv2d";
        }
        boolean isDense = op.root().op() instanceof Dense || op.root().op() instanceof QnnDense;
        return isDense ? "dense" : "conv2d";
    }

    /** The core with its extensions, the instruction set, or the kind of target. */
    public static String core(Target target) {
        return target.mcpu()
                .or(() -> target.attribute("march"))
                .orElse(target.kind().text());
    }

    private static RecordValue tensor(TensorType type) {
        List<Integer> shape = IntStream.range(0, type.shape().rank())
                .map(type.shape()::dim)
                .boxed()
                .toList();
        return Items.of(
                new Text("TENSOR"), Items.of(shape), new Text(type.dtype().text()));
    }
}
