// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.Bytes;
import io.kiln.base.KeptLog;
import io.kiln.base.KilnException;
import io.kiln.base.PlainZip.StoredZip;
import io.kiln.flow.model.SharedModel.ModelFolder;
import io.kiln.reference.OwnModel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A model is checked and packed with its vectors and its card, and found again by who uses it. */
class SharedModelTest {
    private static final String CARD = """
        schema: 1
        title: A sine
        licence: Apache-2.0
        inputs:
          - {name: "x", dtype: int8, shape: [1, 1]}
        """;

    @TempDir
    private Path temporary;

    private final KeptLog log = new KeptLog();
    private Path folder;
    private Path home;

    @BeforeEach
    void aModelWithVectors() throws IOException {
        folder = temporary.resolve("model");
        home = temporary.resolve("home");
        Path golden = OwnModel.SINE.folder();
        Files.createDirectories(folder.resolve("vectors"));
        Files.copy(golden.resolve("model.tflite"), folder.resolve("sine.tflite"));
        for (String name : new String[] {"input_0.bin", "output_0.bin"}) {
            Files.copy(golden.resolve(name), folder.resolve("vectors").resolve(name));
        }
        card("schema: 1\ntitle: A sine\nlicence: Apache-2.0\n");
    }

    private void card(String text) throws IOException {
        Files.writeString(folder.resolve("model.yaml"), text);
    }

    private Path packed(String name) {
        Path zip = temporary.resolve(name);
        new ModelFolder(folder, log).pack(zip);
        return zip;
    }

    @Test
    void whatIsPackedIsFoundWithAllThatBelongsToIt() throws IOException {
        Files.writeString(folder.resolve("labels.csv"), "0,1\n");
        new ModelFolder(folder, log).check();
        Path zip = packed("sine.zip");
        SharedModel model = SharedModel.of(zip, Optional.empty(), home);
        assertThat(model.file()).startsWith(home).hasSameBinaryContentAs(folder.resolve("sine.tflite"));
        assertThat(model.vectors().orElseThrow().resolve("output_0.bin"))
                .hasSameBinaryContentAs(folder.resolve("vectors/output_0.bin"));
        assertThat(model.labels()).isPresent();
        assertThat(model.samples()).isEmpty();
        assertThat(SharedModel.of(zip, Optional.of("sine.tflite"), home)).isEqualTo(model);
        assertThat(packed("again.zip")).hasSameBinaryContentAs(zip);

        // A module that is not packaged yet gives its folder.
        assertThat(SharedModel.of(folder, Optional.empty(), home).file()).isEqualTo(folder.resolve("sine.tflite"));
    }

    @Test
    void severalModelsAreChosenByName() throws IOException {
        Files.copy(folder.resolve("sine.tflite"), folder.resolve("other.tflite"));
        assertThatThrownBy(() -> SharedModel.of(folder, Optional.empty(), home))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("there are 2 models: [other.tflite, sine.tflite]");
        assertThat(SharedModel.of(folder, Optional.of("other.tflite"), home).file())
                .hasFileName("other.tflite");
        assertThatThrownBy(() -> SharedModel.of(folder, Optional.of("../home/x.tflite"), home))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("there is no model ../home/x.tflite in it");
        card("schema: 1\ntitle: A sine\nlicence: MIT\nfile: other.tflite\n");
        assertThat(SharedModel.of(folder, Optional.empty(), home).file()).hasFileName("other.tflite");
    }

    @Test
    void everyMistakeOfTheCardIsNamedWithItsLine() throws IOException {
        card("schema: 2\ntitle: \"\"\nfile: ../evil.tflite\nlicense: MIT\n");
        assertThatThrownBy(() -> new ModelFolder(folder, log).check())
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("model.yaml:1")
                .hasMessageContaining("model.yaml:2")
                .hasMessageContaining("model.yaml:3")
                .hasMessageContaining("unknown key \"license\"")
                .hasMessageContaining("licence");
        Files.delete(folder.resolve("model.yaml"));
        assertThatThrownBy(() -> new ModelFolder(folder, log).check())
                .hasMessageContaining("model.yaml: does not exist");
        assertThatThrownBy(() -> packed("none.zip")).hasMessageContaining("model.yaml: does not exist");
        assertThat(temporary.resolve("none.zip")).doesNotExist();
    }

    @Test
    void whatTheCardStatesIsHeldAgainstTheModel() throws IOException {
        card(CARD.replace("[1, 1]", "[1, 2]") + "outputs: []\n");
        Files.writeString(folder.resolve("vectors/input_1.bin"), "three");
        assertThatThrownBy(() -> new ModelFolder(folder, log).check())
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("model.yaml:5")
                .hasMessageContaining("int8[1, 2], which the model does not have")
                .hasMessageContaining("input_1.bin: has 5 bytes; expected 1 bytes");
    }

    @ParameterizedTest
    @ValueSource(strings = {"../evil.tflite", "/evil.tflite", "a/../../evil.tflite", "C:/evil.tflite"})
    void hostileNamesLeaveNothingBehind(String name) throws IOException {
        TreeMap<String, Bytes> files = new TreeMap<>(
                Map.of("model.yaml", Bytes.ofText("schema: 1\ntitle: x\nlicence: MIT\n"), name, Bytes.ofText("evil")));
        Path zip = Files.write(temporary.resolve("evil.zip"), StoredZip.of(files));
        assertThatThrownBy(() -> SharedModel.of(zip, Optional.empty(), home))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("the name is not that of a file of a model");
        assertThat(home).doesNotExist();
    }

    @Test
    void whatIsNoZipIsRefused() throws IOException {
        Path zip = Files.writeString(temporary.resolve("text.zip"), "not a zip");
        assertThatThrownBy(() -> SharedModel.of(zip, Optional.empty(), home))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("this is not a zip of a model");
        assertThat(home).doesNotExist();
    }
}
