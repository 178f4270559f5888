// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.verify;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.KeptLog;
import io.kiln.base.KilnException;
import io.kiln.flow.Flow;
import io.kiln.flow.GestureProject;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.VerifyOn;
import io.kiln.flow.spec.BuildSpec.VerifySpec;
import io.kiln.flow.spec.DeviceSpec;
import io.kiln.toolchain.compiler.TestToolchains;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Vectors of a wrong size are told, all at once, before any C is compiled. */
class VectorSizesTest {
    @TempDir
    private Path folder;

    private final KeptLog log = new KeptLog();
    private final Flow flow = new Flow(log, TestToolchains.environment(log));

    private BuildSpec spec(VerifyOn on) throws IOException {
        Path vectors = Files.createDirectories(folder.resolve("vectors"));
        Files.write(vectors.resolve("input_0.bin"), new byte[3]);
        Files.copy(
                GestureProject.VECTORS.resolve("input_1.bin"),
                vectors.resolve("input_1.bin"),
                StandardCopyOption.REPLACE_EXISTING);
        Files.write(vectors.resolve("output_1.bin"), new byte[5]);
        return new GestureProject(folder)
                .spec("mps2-an386")
                .verify(new VerifySpec(on, Optional.of(vectors), 1, 0))
                .build();
    }

    @Test
    void theyAreToldBeforeTheCIsCompiled() throws IOException {
        BuildSpec spec = spec(VerifyOn.EMULATOR);
        assertThatThrownBy(() -> flow.build(spec, DeviceSpec.USUAL))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("input_0.bin: has 3 bytes; expected ")
                .hasMessageContaining("output_1.bin: has 5 bytes; expected ");
        assertThat(spec.layout().generated()).isDirectory();
        assertThat(spec.layout().firmware()).doesNotExist();
        assertThatThrownBy(() -> flow.generate(spec)).isInstanceOf(KilnException.class);
    }

    @Test
    void nobodyLooksAtThemIfNothingIsVerified() throws IOException {
        BuildSpec none = spec(VerifyOn.NONE);
        assertThatCode(() -> flow.generate(none)).doesNotThrowAnyException();
        BuildSpec skipped = spec(VerifyOn.EMULATOR);
        assertThatCode(() -> flow.generate(skipped, false)).doesNotThrowAnyException();
    }
}
