// SPDX-License-Identifier: Apache-2.0
package io.kiln.mlf;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.base.Problem;
import io.kiln.base.Problems;
import java.util.SortedMap;
import java.util.TreeMap;

/** {@code metadata.json} of an archive from anywhere, with limits on what it may hold. */
final class MetadataFile {
    private static final int MOST_BYTES = 4 << 20;
    private static final int MOST_DEPTH = 64;

    private MetadataFile() {}

    /**
     * Parses the file.
     *
     * @param archive the archive's name, for messages
     * @throws KilnException if it is missing, too large, or no JSON
     */
    static JsonNode parse(String archive, SortedMap<String, Bytes> files) {
        String where = archive + ": " + ArchiveTree.METADATA;
        Bytes content = files.get(ArchiveTree.METADATA);
        if (content == null) {
            throw new KilnException(
                    new Problem("there is no " + ArchiveTree.METADATA, archive, "a Model Library Format archive", ""));
        }
        if (content.size() > MOST_BYTES) {
            throw new KilnException(new Problem(
                    "has " + content.size() + " bytes", where, "at most " + MOST_BYTES + " bytes of JSON", ""));
        }
        try {
            return mapper().readTree(content.text());
        } catch (JsonProcessingException e) {
            String line = e.getLocation() == null ? "" : ":" + e.getLocation().getLineNr();
            throw new KilnException(
                    new Problem("this is no JSON: " + e.getOriginalMessage(), where + line, "a JSON object", ""), e);
        }
    }

    /**
     * The models by name; one in versions 5 and 6, which only differ in how they write the target.
     *
     * @throws KilnException if the version is not known or there is no model
     */
    static SortedMap<String, JsonKey> models(JsonKey root, Problems problems) {
        SortedMap<String, JsonKey> models = new TreeMap<>();
        if (!root.isObject()) {
            root.wrong("a JSON object");
            problems.throwIfAny();
        }
        JsonKey version = root.at("version");
        int number = version.number();
        problems.throwIfAny();
        if (number == ModelLibraryFormat.SEVERAL_MODELS) {
            models.putAll(root.at("modules").entries());
            if (problems.isEmpty() && models.isEmpty()) {
                root.at("modules").wrong("at least one model");
            }
        } else if (number >= ModelLibraryFormat.ONE_MODEL && number < ModelLibraryFormat.SEVERAL_MODELS) {
            models.put(root.at("model_name").text(), root);
        } else {
            version.wrong("5, 6 or 7", advice(number));
        }
        problems.throwIfAny();
        return models;
    }

    private static String advice(int version) {
        return version > ModelLibraryFormat.SEVERAL_MODELS
                ? "The archive is newer than what this version of Kiln knows; look for a newer Kiln"
                : "Export the model again with TVM 0.8 to 0.18";
    }

    private static ObjectMapper mapper() {
        JsonMapper mapper = JsonMapper.builder()
                .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
                .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
                .build();
        mapper.getFactory()
                .setStreamReadConstraints(StreamReadConstraints.builder()
                        .maxNestingDepth(MOST_DEPTH)
                        .build());
        return mapper;
    }
}
