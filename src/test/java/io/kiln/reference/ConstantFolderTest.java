// SPDX-License-Identifier: Apache-2.0
package io.kiln.reference;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import io.kiln.base.DType;
import io.kiln.base.KilnException;
import io.kiln.ir.op.OnnxForm;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Window;
import io.kiln.ir.op.element.QnnDequantize;
import io.kiln.ir.op.element.Unary;
import io.kiln.ir.op.layer.AvgPool2d;
import io.kiln.ir.op.layer.Conv2d;
import io.kiln.ir.op.layer.MaxPool2d;
import io.kiln.ir.op.layer.OnnxLayers.OnnxAveragePool;
import io.kiln.ir.op.layer.QnnConv2d;
import io.kiln.ir.op.layer.TransposedConvolutions.Conv2dTranspose;
import io.kiln.ir.op.layer.TransposedConvolutions.QnnConv2dTranspose;
import io.kiln.ir.op.layer.TransposedConvolutions.TransposedWindow;
import io.kiln.ir.op.movement.Copy;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.ConstantFolder.FoldedWork;
import java.lang.reflect.RecordComponent;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class ConstantFolderTest {
    private static TensorType type(int... dims) {
        return new TensorType(Shape.of(dims), DType.INT8);
    }

    private static TensorType floats(int... dims) {
        return new TensorType(Shape.of(dims), DType.FLOAT32);
    }

    private static Window window(int height, int width) {
        Window.Steps one = new Window.Steps(1, 1);
        return new Window(new Window.Steps(height, width), one, one, new Window.Margins(0, 0, 0, 0));
    }

    @Test
    void bytesOfAllResultsAreLimited() {
        ConstantFolder folder = new ConstantFolder(100 << 20);
        TensorType half = floats(1 << 26);
        folder.spend(new Copy(), List.of(), half, "m: a");
        folder.spend(new Copy(), List.of(), half, "m: b");
        assertThatThrownBy(() -> folder.spend(new Copy(), List.of(), type(1), "m: c"))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("m: c: the model's computed constants have more than 536,870,912 bytes");
    }

    @Test
    void bytesOfOneResultAreThoseWhileItIsComputed() {
        ConstantFolder folder = new ConstantFolder(0);
        folder.spend(new Copy(), List.of(), type(1 << 26), "m: a");
        assertThatThrownBy(() -> folder.spend(new Copy(), List.of(), type(1, (1 << 26) + 1), "m: b"))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining(
                        "m: b: computing the constant Tensor[(1, 67108865), int8] takes more than 268,435,456 bytes");
        TensorType longs = new TensorType(Shape.of((1 << 25) + 1), DType.INT64);
        assertThatThrownBy(() -> folder.spend(new Copy(), List.of(), longs, "m: c"))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("takes more than 268,435,456 bytes");
    }

    @Test
    void weightsOfAsManyBytesAsTheModelBecomeFloats() {
        int size = 90 << 20;
        ConstantFolder folder = new ConstantFolder(size);
        List<TensorType> args = List.of(type(size), floats(), new TensorType(Shape.of(), DType.INT32));
        assertThatCode(() -> folder.spend(new QnnDequantize(), args, floats(size), "m: weights"))
                .doesNotThrowAnyException();
    }

    /** Operators with windows are counted by their taps, so that none of them looks cheap. */
    @Test
    void everyWindowIsCounted() {
        Window window = window(30, 30);
        TransposedWindow transposed = new TransposedWindow(window, 0, 0);
        List<TensorType> quantized = List.of(
                type(1, 100, 100, 1),
                type(30, 30, 1, 1),
                floats(),
                new TensorType(Shape.of(), DType.INT32),
                floats(),
                new TensorType(Shape.of(), DType.INT32));
        List<Op> all = List.of(
                new AvgPool2d(window),
                new MaxPool2d(window),
                new OnnxAveragePool(window, OnnxAveragePool.Order.ROWS, OnnxForm.INT8),
                new Conv2d(window, 1, 1, "HWIO"),
                new QnnConv2d(window, 1, 1, "HWIO"),
                new Conv2dTranspose(transposed, 1),
                new QnnConv2dTranspose(transposed, 1, DType.INT32));
        assertThat(all.stream().<Class<?>>map(Op::getClass).toList()).hasSameElementsAs(withWindows());
        assertThat(all)
                .allSatisfy(op -> assertThat(FoldedWork.of(op, quantized, type(1, 71, 71, 1)))
                        .isGreaterThan(30 * 30 * 71 * 71));
    }

    private static Set<Class<?>> withWindows() {
        return new ClassFileImporter()
                .importPackages("io.kiln.ir.op").stream()
                        .filter(type -> type.isAssignableTo(Op.class))
                        .map(JavaClass::reflect)
                        .filter(Class::isRecord)
                        .filter(type -> Stream.of(type.getRecordComponents())
                                .map(RecordComponent::getType)
                                .anyMatch(Set.of(Window.class, TransposedWindow.class)::contains))
                        .collect(Collectors.toSet());
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
        Conv2dTranspose op = new Conv2dTranspose(new TransposedWindow(window(200, 200), 0, 0), 1);
        TensorType image = floats(1, 512, 512, 1);
        TensorType kernel = floats(1, 200, 200, 1);
        TensorType result = op.infer(List.of(image, kernel));
        assertThat(FoldedWork.of(op, List.of(image, kernel), result)).isGreaterThan(512L * 512 * 200 * 200);
    }

    @Test
    void functionsOfEachElementTakeStepsToo() {
        TensorType million = floats(1 << 20);
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
        return new MaxPool2d(window(kernel, kernel));
    }
}
