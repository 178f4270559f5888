// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.DType;
import io.kiln.base.KilnException;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.element.Unary;
import io.kiln.ir.op.movement.BroadcastTo;
import io.kiln.ir.op.movement.Copy;
import io.kiln.ir.op.movement.Reshape;
import io.kiln.ir.op.movement.StridedSlice;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.ConstantFolder;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class GraphBuilderTest {
    private static final TensorType PAIR = new TensorType(Shape.of(2), DType.FLOAT32);
    private static final Origin ORIGIN = new Origin("m", 3, "ADD", "sum");
    private static final Binary ADD = new Binary(Binary.Kind.ADD);

    private final GraphBuilder graph = new GraphBuilder(new ConstantFolder(0));

    private Arg.Ref input(String name) {
        return graph.parameter(name, PAIR, Optional.empty());
    }

    @Test
    void operatorsOnConstantsAreComputedAtOnce() {
        Arg sum = graph.emit(ADD, List.of(Constant.vector(1f, 2f), Constant.vector(3f, 4f)), ORIGIN);
        assertThat(sum).isEqualTo(Constant.vector(4f, 6f));
        assertThat(graph.bindings()).isEmpty();
    }

    @Test
    void copiesAndCallsStayOperators() {
        Constant constant = Constant.vector(1f, 2f);
        assertThat(graph.emit(new Copy(), List.of(constant), ORIGIN)).isEqualTo(new Arg.Ref(0));
        assertThat(graph.call(ADD, List.of(constant, constant), ORIGIN)).isEqualTo(new Arg.Ref(1));
        assertThat(graph.bindings()).extracting(Binding::op).containsExactly(new Copy(), ADD);
    }

    @Test
    void whatHasNoElementsIsAConstant() {
        Arg nothing = graph.emit(StridedSlice.along(PAIR.shape(), 0, 1, 1, 1), List.of(input("x")), ORIGIN);
        assertThat(nothing).isInstanceOf(Constant.class);
        assertThat(graph.type(nothing).shape()).isEqualTo(Shape.of(0));
    }

    @Test
    void typesAreInferred() {
        Arg wide = graph.emit(new BroadcastTo(Shape.of(3, 2)), List.of(input("x")), ORIGIN);
        assertThat(graph.type(wide).shape()).isEqualTo(Shape.of(3, 2));
        assertThatThrownBy(() -> graph.emit(ADD, List.of(wide, Constant.vector(1f, 2f, 3f)), ORIGIN))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void eachResultHasMemoryOfItsOwn() {
        Arg.Ref x = input("x");
        Arg y = graph.emit(new Unary(Unary.Kind.EXP), List.of(x), ORIGIN);
        List<Arg.Ref> results = List.of(
                graph.own(y, ORIGIN),
                graph.own(y, ORIGIN),
                graph.own(x, ORIGIN),
                graph.own(Constant.vector(1f), ORIGIN));
        assertThat(results).doesNotHaveDuplicates().startsWith((Arg.Ref) y).doesNotContain(x);
        assertThat(graph.bindings()).hasSize(4);
        Verifier.verify(graph.build(
                "f",
                results.stream()
                        .map(r -> new Result(r.id(), "y" + r.id(), Optional.empty()))
                        .toList()));
    }

    @Test
    void aResultThatNoMicrocontrollerHoldsIsRefused() {
        Arg x = input("x");
        assertThatThrownBy(() -> graph.emit(new BroadcastTo(Shape.of(1 << 26, 2)), List.of(x), ORIGIN))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("Tensor[(67108864, 2), float32] has more than 268435456 bytes");
    }

    @Test
    void aModelWithoutEndIsRefused() {
        Arg x = input("x");
        for (int i = 0; i < 1 << 16; i++) {
            graph.emit(new Reshape(Shape.of(2)), List.of(x), ORIGIN);
        }
        assertThatThrownBy(() -> graph.emit(new Reshape(Shape.of(2)), List.of(x), ORIGIN))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("more than 65536 operators")
                .hasMessageContaining("operator #3 ADD `sum`");
    }

    @Test
    void aRewrittenFunctionKeepsItsIds() {
        Arg x = input("x");
        Arg sum = graph.emit(ADD, List.of(x, x), ORIGIN);
        Arg product = graph.emit(new Binary(Binary.Kind.MULTIPLY), List.of(sum, sum), ORIGIN);
        Function function = graph.build("f", List.of(new Result(2, "y", Optional.empty())));
        GraphBuilder rewriting = new GraphBuilder(function);
        rewriting.define(1, new Unary(Unary.Kind.EXP), List.of(x), ORIGIN);
        rewriting.replace(1, rewriting.call(new Unary(Unary.Kind.EXP), List.of(sum), ORIGIN));
        rewriting.keep(function.bindings().get(1));
        Function rewritten = function.withBindings(rewriting.bindings());
        Verifier.verify(rewritten);
        assertThat(rewritten.bindings()).extracting(Binding::id).containsExactly(1, 3, 2);
        assertThat(rewritten.bindings().get(2).args()).containsOnly(new Arg.Ref(3));
        assertThat(rewriting.type(product)).isEqualTo(PAIR);
    }
}
