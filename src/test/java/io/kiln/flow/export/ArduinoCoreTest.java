// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.export;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Log;
import io.kiln.flow.GestureProject;
import io.kiln.flow.export.SourceExport.SourceForm;
import io.kiln.flow.spec.BuildSpec.VerifyOn;
import io.kiln.flow.spec.BuildSpec.VerifySpec;
import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.process.ProcessRunner.ProcessResult;
import io.kiln.process.TestPrograms;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The exported library of Arduino with a core of Arduino's shape, made up, on a Cortex-M4 in QEMU: the core's tick interrupts the model. */
final class ArduinoCoreTest {
    private static final Path HAL = Path.of("src/test/resources/hal").toAbsolutePath();

    @TempDir
    private Path folder;

    @Test
    void theSketchOfTheLibraryPassesWhileTheCoresTickInterrupts() throws IOException {
        TestPrograms.need("qemu-system-arm", "arm-none-eabi-gcc");
        Path library = SourceExport.of(
                        Log.QUIET,
                        new GestureProject(folder)
                                .spec("mps2-an386")
                                .verify(new VerifySpec(VerifyOn.NONE, Optional.empty(), 4, 7))
                                .build(),
                        SourceForm.ARDUINO.text(),
                        "")
                .run();
        Files.writeString(
                folder.resolve("Proof.ino.cpp"),
                "#include <Arduino.h>\n" + Files.readString(library.resolve("examples/Proof/Proof.ino")));
        List<String> flags = new ArrayList<>(List.of("-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard"));
        flags.addAll(List.of("-mfpu=fpv4-sp-d16", "-Os", "-Wall", "-Wextra", "-Werror", "-ffunction-sections"));
        flags.addAll(List.of("-I" + HAL.resolve("arduino"), "-I" + library.resolve("src")));
        flags.add("-I" + library.resolve("examples/Proof"));
        List<String> c = new ArrayList<>(List.of("arm-none-eabi-gcc", "-std=gnu11", "-ffp-contract=off", "-c"));
        c.addAll(flags);
        for (String below : List.of("src", "examples/Proof")) {
            try (Stream<Path> sources = Files.list(library.resolve(below))) {
                sources.map(Path::toString)
                        .filter(file -> file.matches(".*\\.[cS]"))
                        .forEach(c::add);
            }
        }
        c.add(HAL.resolve("cube/startup_mps2.s").toString());
        run(c);
        List<String> link =
                new ArrayList<>(List.of("arm-none-eabi-gcc", "-std=gnu++17", "-fno-exceptions", "-fno-rtti"));
        link.addAll(flags);
        link.addAll(List.of(HAL.resolve("arduino/core.cpp").toString(), "Proof.ino.cpp"));
        try (Stream<Path> objects = Files.list(folder)) {
            objects.map(path -> path.getFileName().toString())
                    .filter(name -> name.endsWith(".o"))
                    .forEach(link::add);
        }
        link.addAll(List.of("-T" + HAL.resolve("cube/MPS2_FLASH.ld"), "-Wl,--gc-sections", "-specs=nano.specs"));
        link.addAll(List.of("-specs=nosys.specs", "-o", "sketch.elf"));
        run(link);
        List<String> emulator = new ArrayList<>(List.of("qemu-system-arm", "-M", "mps2-an386", "-display", "none"));
        emulator.addAll(List.of("-monitor", "none", "-serial", "stdio", "-kernel", "sketch.elf"));
        emulator.addAll(List.of("-semihosting-config", "enable=on,target=native"));
        assertThat(run(emulator).lines().distinct()).containsExactly("PASS: 0 of 4 cases are wrong");
    }

    private String run(List<String> line) {
        ProcessResult result = ProcessRunner.run(Command.ofLine(line).in(folder).within(Duration.ofMinutes(1)));
        assertThat(result.succeeded())
                .as("%s: %s", line.get(0), result.message())
                .isTrue();
        return result.output();
    }
}
