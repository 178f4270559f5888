// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.BuildSpec.VerifyOn;
import io.kiln.flow.spec.BuildSpec.VerifySpec;
import io.kiln.flow.spec.SpecDraft;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** A project of the example model in a folder of a test; outputs are in {@code out}. */
public record GestureProject(Path folder) {
    /** The model. */
    public static final Path MODEL = Path.of("src", "it", "quickstart", "src", "main", "model", "gesture.tflite");
    /** Its test vectors. */
    public static final Path VECTORS = Path.of("src", "it", "quickstart", "src", "test", "vectors");
    /** Without verification. */
    public static final VerifySpec UNVERIFIED = new VerifySpec(VerifyOn.NONE, Optional.empty(), 0, 0);

    /** A build of it with the usual choices. */
    public SpecDraft spec(String board) {
        return SpecDraft.of(
                new Layout(folder, folder.resolve("out"), "gesture"),
                List.of(new ModelSource(MODEL, "gesture")),
                board);
    }

    /** As {@link #spec}, with the GNU compiler, an archive of version 5 and no verification. */
    public BuildSpec gnu(String board) {
        return spec(board)
                .toolchain(Optional.of("gnu"))
                .mlfVersion(5)
                .verify(UNVERIFIED)
                .build();
    }

    /** An output. */
    public Path out(String file) {
        return folder.resolve("out").resolve(file);
    }

    /** Text of an output. */
    public String text(String file) throws IOException {
        return Files.readString(out(file));
    }

    /** JSON of an output. */
    public JsonNode json(String file) throws IOException {
        return new ObjectMapper().readTree(text(file));
    }
}
