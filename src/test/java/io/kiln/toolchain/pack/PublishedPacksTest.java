// SPDX-License-Identifier: Apache-2.0
package io.kiln.toolchain.pack;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kiln.base.Bytes;
import io.kiln.reference.NeedsShared;
import io.kiln.reference.SharedFolder;
import io.kiln.toolchain.pack.Device.Vectors.SvdReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What vendors' packs say, as an independent resolver reads it. */
@NeedsShared("packs")
class PublishedPacksTest {
    private static final List<String> COMPARED = List.of("Dcore", "Dfpu", "Dclock", "Ddsp", "Dtz", "Dmve");

    private final ObjectMapper json = new ObjectMapper();
    private final Path folder = SharedFolder.need("packs");

    @Test
    void everyDeviceInheritsWhatItShould() throws IOException {
        JsonNode expected =
                json.readTree(folder.resolve("expected-devices.json").toFile());
        ObjectNode read = json.createObjectNode();
        for (Map.Entry<String, JsonNode> file : expected.properties()) {
            ObjectNode devices = read.putObject(file.getKey());
            Packs.open(folder.resolve(file.getKey()))
                    .matching("")
                    .forEach(found -> devices.set(found.entry().name(), tree(Device.of(found.entry()))));
        }
        assertThat(read).isEqualTo(expected);
        assertThat(read.size()).isGreaterThanOrEqualTo(5);
    }

    @Test
    void everyInterruptIsRead() throws IOException {
        JsonNode expected =
                json.readTree(folder.resolve("expected-interrupts.json").toFile());
        ObjectNode read = json.createObjectNode();
        for (Map.Entry<String, JsonNode> file : expected.properties()) {
            ObjectNode numbers = read.putObject(file.getKey());
            Bytes content = Bytes.wrap(Files.readAllBytes(folder.resolve(file.getKey())));
            SvdReader.interrupts(file.getKey(), content).forEach((number, names) -> {
                ArrayNode all = numbers.putArray(number.toString());
                names.forEach(all::add);
            });
        }
        assertThat(read).isEqualTo(expected);
        assertThat(read.size()).isGreaterThanOrEqualTo(3);
    }

    private ObjectNode tree(Device device) {
        ObjectNode tree = json.createObjectNode();
        ObjectNode processors = tree.putObject("processors");
        device.processors().forEach((name, attributes) -> {
            ObjectNode processor = processors.putObject(name.isEmpty() ? "-" : name);
            COMPARED.stream()
                    .filter(attributes::containsKey)
                    .forEach(each -> processor.put(each, attributes.get(each)));
        });
        ArrayNode memories = tree.putArray("memories");
        device.memories()
                .forEach(memory -> memories.addObject()
                        .put("name", memory.name())
                        .put("pname", memory.core().isEmpty() ? null : memory.core())
                        .put("access", memory.use().access())
                        .put("start", String.format(Locale.ROOT, "0x%08X", memory.start()))
                        .put("size", Math.toIntExact(memory.size()))
                        .put("default", memory.isDefault())
                        .put("startup", memory.isStartup())
                        .put("alias", memory.alias().isEmpty() ? null : memory.alias()));
        ObjectNode svd = tree.putObject("svd");
        device.papers().svd().forEach(svd::put);
        ArrayNode defines = tree.putArray("defines");
        device.papers()
                .defines()
                .forEach(each -> defines.addArray()
                        .add(each.core())
                        .add(each.attribute())
                        .add(each.text()));
        return tree;
    }
}
