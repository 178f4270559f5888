// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.DType;
import io.kiln.base.KilnException;
import io.kiln.ir.op.Window;
import io.kiln.ir.op.element.Unary;
import io.kiln.ir.op.layer.Conv2dTranspose;
import io.kiln.ir.op.layer.MaxPool2d;
import io.kiln.ir.op.layer.TransposedWindow;
import io.kiln.ir.op.movement.Copy;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.List;
import org.junit.jupiter.api.Test;

class ConstantFolderTest {
    private static TensorType type(int... dims) {
        return new TensorType(Shape.of(dims), DType.INT8);
    }

    @Test
    void bytesOfAllResultsAreLimited() {
        ConstantFolder folder = new ConstantFolder(0);
        TensorType half = type(1 << 28);
        folder.spend(new Copy(), List.of(), half, "m: a");
        folder.spend(new Copy(), List.of(), half, "m: b");
        assertThatThrownBy(() -> folder.spend(new Copy(), List.of(), type(1), "m: c"))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("m: c: the model's computed constants have more than 536,870,912 bytes");
        assertThatThrownBy(() -> folder.spend(new Copy(), List.of(), type(1, (1 << 28) + 1), "m: d"))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("has more than 268,435,456 bytes");
    }

    @Test
    void stepsOfAllOperatorsAreLimitedAndNotCountedIfRefused() {
        ConstantFolder folder = new ConstantFolder(0);
        TensorType image = type(1, 1024, 1024, 1);
        MaxPool2d pool = pool(1 << 20);
        assertThatThrownBy(() -> folder.spend(pool, List.of(image), image, "m: pool"))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("m: pool: computing the model's constants takes more than 805,306,368 steps");
        assertThatCode(() -> folder.spend(pool(2), List.of(image), image, "m: small"))
                .doesNotThrowAnyException();
    }

    @Test
    void transposedConvolutionsTakeAStepForEachProduct() {
        Window.Steps one = new Window.Steps(1, 1);
        Window window = new Window(new Window.Steps(200, 200), one, one, new Window.Margins(0, 0, 0, 0));
        Conv2dTranspose op = new Conv2dTranspose(new TransposedWindow(window, 0, 0), 1);
        TensorType image = new TensorType(Shape.of(1, 512, 512, 1), DType.FLOAT32);
        TensorType kernel = new TensorType(Shape.of(1, 200, 200, 1), DType.FLOAT32);
        TensorType result = op.infer(List.of(image, kernel));
        assertThat(FoldedWork.of(op, List.of(image, kernel), result)).isGreaterThan(512L * 512 * 200 * 200);
    }

    @Test
    void functionsOfEachElementTakeStepsToo() {
        TensorType million = new TensorType(Shape.of(1 << 20), DType.FLOAT32);
        assertThat(FoldedWork.of(new Unary(Unary.Kind.LOG), List.of(million), million))
                .isGreaterThan(16L << 20);
        assertThat(FoldedWork.of(new Unary(Unary.Kind.ERF), List.of(million), million))
                .isGreaterThan(64L << 20);
    }

    @Test
    void productsBeyondLongsAreTheMost() {
        TensorType image = type(1, 1 << 14, 1 << 14, 1);
        assertThat(FoldedWork.of(pool(Integer.MAX_VALUE), List.of(image), image))
                .isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void aLargeModelMayComputeMore() {
        ConstantFolder folder = new ConstantFolder(1L << 30);
        for (int i = 0; i < 16; i++) {
            folder.spend(new Copy(), List.of(), type(1 << 28), "m: a");
        }
        assertThatThrownBy(() -> folder.spend(new Copy(), List.of(), type(1), "m: b"))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("4,294,967,296 bytes");
    }

    private static MaxPool2d pool(int kernel) {
        Window.Steps one = new Window.Steps(1, 1);
        return new MaxPool2d(new Window(new Window.Steps(kernel, kernel), one, one, new Window.Margins(0, 0, 0, 0)));
    }
}
