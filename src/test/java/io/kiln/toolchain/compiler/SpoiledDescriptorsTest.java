// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.compiler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.toolchain.board.Boards;
import io.kiln.toolchain.compiler.Toolchain.CompilerDescriptor;
import io.kiln.toolchain.yaml.YamlDocument;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.yaml.snakeyaml.Yaml;

/** Every value of every descriptor, replaced by values of other types: each is read, or refused with a message. */
class SpoiledDescriptorsTest {
    private static final List<String> VALUES = List.of("null", "\"\"", "{}", "[null]", "1e400", "\"\\u0000\"");

    /** Files that are hardly YAML, or more than it seems. */
    private static final List<String> ODD = List.of(
            "",
            "~",
            "null: 1",
            ": 1",
            "? [a]\n: b",
            "<<: {a: 1}",
            "a: &a [*a]",
            "&a a: *a",
            "a: *b",
            "!!java.net.URL [x]",
            "a: 1\n---\nb: 2",
            "%YAML 9.9\n---\na: 1",
            "a:\n\tb: 2",
            "\ufeff",
            "a: \u0001",
            "\ud800",
            "a: .inf",
            "a: 1e999",
            "a: \"\\UFFFFFFFF\"",
            "a: \"\\U0011ffff\"",
            "a: " + "[".repeat(60_000),
            "a: " + "9".repeat(60_000),
            "a: " + "x".repeat(70_000),
            "a: &a [x]\n" + "b: [*a, *a, *a, *a]\n".repeat(3_000));

    private static final ObjectMapper JSON = new ObjectMapper();

    @TempDir
    private Path folder;

    @Test
    @Timeout(60)
    void descriptorsOfCompilers() throws IOException {
        JsonNode root = read(Bytes.copyOf(Files.readAllBytes(Path.of("toolchains/compilers/clang.yaml"))));
        spoil(root, root, SpoiledDescriptorsTest::readCompiler);
        for (String text : ODD) {
            assertThatThrownBy(() -> readCompiler(text)).as(text).isInstanceOf(KilnException.class);
        }
    }

    private static JsonNode read(Bytes descriptor) {
        return YamlDocument.parse("right.yaml", descriptor).root();
    }

    private static void readCompiler(String text) {
        CompilerDescriptor descriptor = Toolchains.read("mine.yaml", Bytes.ofText(text));
        assertThat(descriptor.cpus()).isNotNull();
    }

    @Test
    @Timeout(60)
    void descriptorsOfBoards() throws IOException {
        Boards builtIn = Boards.builtIn();
        JsonNode root = read(builtIn.ownFiles("nucleo-h743zi").get("board.yaml"));
        spoil(root, root, text -> readBoard(builtIn, text));
        for (String text : ODD) {
            assertThatThrownBy(() -> readBoard(builtIn, text)).as(text).isInstanceOf(KilnException.class);
        }
    }

    private void readBoard(Boards builtIn, String text) {
        try {
            Path own = Files.createDirectories(folder.resolve("nucleo-h743zi"));
            Files.writeString(own.resolve("board.yaml"), text.replace("\ud800", "?"));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        Boards boards = builtIn.with(folder);
        assertThat(boards.emulated(boards.find("nucleo-h743zi"))).isNotNull();
    }

    /** Calls a reader with a document for each value below a node and each replacement; what it throws must be a message. */
    private static void spoil(JsonNode root, JsonNode node, Consumer<String> reader) throws IOException {
        for (int i = 0; i < node.size(); i++) {
            String key = node.isObject()
                    ? new ArrayList<>(((ObjectNode) node).properties()).get(i).getKey()
                    : "";
            JsonNode before = node.isObject() ? node.get(key) : node.get(i);
            for (String value : VALUES) {
                set(node, key, i, JSON.readTree(value));
                String text = new Yaml().dump(JSON.convertValue(root, Object.class));
                try {
                    reader.accept(text);
                } catch (KilnException e) {
                    assertThat(e.getMessage()).as(text).isNotBlank().doesNotContain("Exception", "null pointer");
                } catch (RuntimeException e) {
                    throw new AssertionError("on " + text, e);
                }
            }
            set(node, key, i, before);
            spoil(root, before, reader);
        }
    }

    private static void set(JsonNode node, String key, int index, JsonNode value) {
        if (node instanceof ObjectNode object) {
            object.set(key, value);
        } else {
            ((ArrayNode) node).set(index, value);
        }
    }
}
