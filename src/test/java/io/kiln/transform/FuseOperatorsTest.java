// SPDX-License-Identifier: Apache-2.0
package io.kiln.transform;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.DType;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.GraphBuilder;
import io.kiln.ir.Group;
import io.kiln.ir.Origin;
import io.kiln.ir.Result;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.element.Clip;
import io.kiln.ir.op.layer.BiasAdd;
import io.kiln.ir.op.layer.Dense;
import io.kiln.ir.op.movement.Reshape;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.ConstantFolder;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class FuseOperatorsTest {
    private static final TensorType X = new TensorType(Shape.of(1, 2), DType.FLOAT32);
    private static final Constant WEIGHT = new Constant(
            "w",
            new TensorType(Shape.of(2, 2), DType.FLOAT32),
            Constant.vector(1f, 2f, 3f, 4f).data());

    private final GraphBuilder graph = new GraphBuilder(new ConstantFolder(0));
    private final Arg.Ref input = graph.parameter("x", X, Optional.empty());

    private Arg.Ref bind(Op op, Arg... args) {
        int id = 1 + graph.bindings().size();
        return graph.call(op, List.of(args), new Origin("m", id, op.name(), "t" + id));
    }

    private Function function(Arg.Ref... results) {
        List<Result> named = new ArrayList<>();
        for (Arg.Ref result : results) {
            named.add(new Result(result.id(), "out" + named.size(), Optional.empty()));
        }
        return graph.build("m", named);
    }

    @Test
    void aLayerTakesItsBiasAndLimitsAlong() {
        Arg.Ref layer =
                bind(new Clip(0, 6), bind(new BiasAdd(-1), bind(new Dense(2), input, WEIGHT), Constant.vector(1f, 2f)));
        Function fused = Pipeline.standard().run(function(layer));
        assertThat(fused.groups()).containsExactly(new Group("fused_nn_dense_nn_bias_add_clip", List.of(1, 2, 3)));
    }

    @Test
    void whatSomebodyElseReadsStaysAValueOfItsOwn() {
        Arg.Ref dense = bind(new Dense(2), input, WEIGHT);
        Arg.Ref limited = bind(new Clip(0, 6), dense);
        Function fused = Pipeline.standard().run(function(bind(new Binary(Binary.Kind.ADD), dense, limited)));
        assertThat(fused.groups()).extracting(Group::name).containsExactly("fused_nn_dense", "fused_clip", "fused_add");
    }

    @Test
    void constantsFoldAndReshapesOfReshapesShrink() {
        Arg.Ref constant = bind(new Binary(Binary.Kind.ADD), Constant.vector(1f, 2f), Constant.vector(3f, 4f));
        Arg.Ref flat = bind(
                new Reshape(Shape.of(2)),
                bind(new Reshape(Shape.of(2, 1)), bind(new Binary(Binary.Kind.ADD), input, constant)));
        Function done = Pipeline.standard().run(function(flat));
        assertThat(done.bindings()).extracting(b -> b.op().name()).containsExactly("add", "reshape");
        assertThat(done.bindings().get(0).constant(1).real(1)).isEqualTo(6f);
    }
}
