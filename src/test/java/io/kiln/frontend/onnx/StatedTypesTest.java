// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx;

import static io.kiln.frontend.onnx.model.ElementType.FLOAT;
import static io.kiln.frontend.onnx.model.ElementType.INT32;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.KilnException;
import io.kiln.frontend.InputShapes;
import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.ir.Function;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Types and shapes that a model states of its values are those that its nodes compute. */
class StatedTypesTest {
    /** A transposed input of 2 times 3. */
    private static Function read(ElementType stated, List<Integer> dims, InputShapes shapes) {
        ModelBuilder model = new ModelBuilder(13);
        model.input("x", FLOAT, List.of(2, 3));
        model.node("Transpose", List.of("x"), "y", Map.of());
        model.output("y", stated, dims);
        return OnnxFrontend.read(model.build(), "m.onnx", "m", shapes);
    }

    private static List<Integer> result(Function function) {
        return function.types().get(function.results().get(0).id()).shape().dims();
    }

    @Test
    void otherElementTypesAreErrorsOfTheNode() {
        assertThatThrownBy(() -> read(INT32, List.of(3, 2), InputShapes.NONE))
                .isInstanceOf(KilnException.class)
                .hasMessageContainingAll(
                        "m.onnx: node #0 Transpose",
                        "its output `y` is float(3, 2), but the model states int32(3, 2)",
                        "infer_shapes");
    }

    @Test
    void otherShapesChangeNothing() {
        assertThat(result(read(FLOAT, List.of(2, 3), InputShapes.NONE))).containsExactly(3, 2);
        assertThat(result(read(FLOAT, List.of(2, 1, 3), InputShapes.NONE))).containsExactly(3, 2);
    }

    @Test
    void openSizesAndOnesThatAreLeftOutAreNone() {
        assertThat(result(read(FLOAT, List.of(3, 2), InputShapes.NONE))).containsExactly(3, 2);
        assertThat(result(read(FLOAT, List.of(0, 2), InputShapes.NONE))).containsExactly(3, 2);
        assertThat(result(read(FLOAT, List.of(1, 3, 2), InputShapes.NONE))).containsExactly(3, 2);
    }

    @Test
    void shapesOfTheUserReplaceAllThatIsStated() {
        InputShapes shapes = InputShapes.parse("x:5,7");
        assertThat(result(read(FLOAT, List.of(3, 2), shapes))).containsExactly(7, 5);
        assertThatThrownBy(() -> read(INT32, List.of(7, 5), shapes))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("int32");
    }
}
