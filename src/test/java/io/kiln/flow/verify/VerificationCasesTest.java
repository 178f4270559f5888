// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.verify;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.artifact.ModelMetadata;
import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.Problems;
import io.kiln.compile.ModelCompiler;
import io.kiln.compile.RequestDraft;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.BuildSpec.VerifyOn;
import io.kiln.flow.spec.BuildSpec.VerifySpec;
import io.kiln.flow.verify.VerificationCases.TestVectors;
import io.kiln.frontend.InputShapes;
import io.kiln.frontend.onnx.ModelBuilder;
import io.kiln.frontend.onnx.OnnxFrontend;
import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class VerificationCasesTest {
    @TempDir
    private Path folder;

    @Test
    void aVectorMayHoldTheLargestFloatForWhatIsInfinite() throws IOException {
        ModelBuilder model = new ModelBuilder(17);
        String x = model.input("x", ElementType.FLOAT, List.of(3));
        model.output(model.node("Neg", List.of(x), "y", Map.of()), ElementType.FLOAT);
        Bytes file = model.build();
        write("input_0.bin", Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY, Float.NaN);
        write("output_0.bin", -Float.MAX_VALUE, Float.MAX_VALUE, Float.NaN);

        VerificationCases cases = cases(file);
        ByteBuffer expected = cases.expected().get(0).get(0).buffer();
        assertThat(expected.getFloat()).isEqualTo(Float.NEGATIVE_INFINITY);
        write("output_0.bin", Float.MAX_VALUE, Float.MAX_VALUE, Float.NaN);
        assertThatThrownBy(() -> cases(file)).hasMessageContaining("1 of 3 differ");
        write("output_0.bin", -Float.MAX_VALUE, Float.MAX_VALUE, 0);
        assertThatThrownBy(() -> cases(file)).hasMessageContaining("1 of 3 differ");
    }

    private void write(String name, float... values) throws IOException {
        Files.write(folder.resolve(name), Constant.vector(values).data().toArray());
    }

    private VerificationCases cases(Bytes file) {
        Function function = OnnxFrontend.read(file, "m.onnx", "m", InputShapes.NONE);
        ModelMetadata metadata = ModelCompiler.compile(
                        RequestDraft.of(Path.of("m.onnx"), "c").name("m").build(), function)
                .library()
                .metadata();
        TestVectors vectors = new TestVectors(
                new VerifySpec(VerifyOn.EMULATOR, Optional.of(folder), 0, 0),
                List.of(new ModelSource(Path.of("m.onnx"), "m")),
                false);
        Problems problems = new Problems(Failure.VERIFY);
        VerificationCases cases = VerificationCases.of(metadata, RoundedModel.alone(function), vectors, problems);
        problems.throwIfAny();
        return cases;
    }
}
