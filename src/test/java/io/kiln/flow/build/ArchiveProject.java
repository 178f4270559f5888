// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.build;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kiln.base.Log;
import io.kiln.firmware.TrustedArchives;
import io.kiln.flow.Flow;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.BuildSpec.VerifyOn;
import io.kiln.flow.spec.BuildSpec.VerifySpec;
import io.kiln.flow.spec.SpecDraft;
import io.kiln.process.ProcessRunner.Executables;
import io.kiln.toolchain.board.Boards;
import io.kiln.toolchain.compiler.TestToolchains;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.io.TempDir;

/** A project whose models come from archives. */
abstract class ArchiveProject {
    @TempDir
    Path folder;

    final List<String> said = new ArrayList<>();
    final Flow flow = flow();

    void write(String name, String text) throws IOException {
        Path file = folder.resolve(name);
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
    }

    static void assumeRunnable(String board, String toolchain) {
        boolean missing =
                !board.equals("host") && Executables.find("qemu-system-arm").isEmpty();
        Assumptions.assumeFalse(missing && !"true".equals(System.getenv("CI")), "qemu-system-arm is not installed");
        TestToolchains.resolve(toolchain, Boards.builtIn().find(board).target());
    }

    BuildSpec spec(String board, String toolchain, Path archive) {
        return spec(board, toolchain, archive, "default");
    }

    BuildSpec spec(String board, String toolchain, Path archive, String name) {
        return spec(board, toolchain, List.of(new ModelSource(archive, name)));
    }

    BuildSpec spec(String board, String toolchain, List<ModelSource> models) {
        return SpecDraft.of(new Layout(folder, folder.resolve("out"), "net"), models, board)
                .toolchain(Optional.of(toolchain))
                .verify(new VerifySpec(VerifyOn.EMULATOR, Optional.of(folder.resolve("vectors")), 2, 0))
                .trustedArchives( // The GNU toolchain cannot be fenced.
                        toolchain.equals("gnu") ? TrustedArchives.parse("net.tar") : TrustedArchives.NONE)
                .build();
    }

    static BuildSpec trusting(BuildSpec spec, TrustedArchives trusted) {
        return SpecDraft.of(spec).trustedArchives(trusted).build();
    }

    BuildSpec withVerify(BuildSpec spec, VerifySpec verify) {
        return SpecDraft.of(spec).verify(verify).build();
    }

    private Flow flow() {
        Log log = Log.of(said::add, line -> said.add("warning: " + line), line -> {});
        return new Flow(log, TestToolchains.environment(log));
    }

    String text(String file) throws IOException {
        return Files.readString(folder.resolve("out").resolve(file));
    }

    JsonNode json(String file) throws IOException {
        return new ObjectMapper().readTree(text(file));
    }
}
