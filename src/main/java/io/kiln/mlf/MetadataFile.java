// SPDX-License-Identifier: Apache-2.0
package io.kiln.mlf;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.kiln.artifact.ArchivePaths;
import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Problems;
import java.util.SortedMap;
import java.util.TreeMap;

/** {@code metadata.json} of an untrusted archive, with limits on its content. */
final class MetadataFile {
    private static final int MOST_BYTES = 4 << 20;
    private static final int MOST_DEPTH = 64;

    private MetadataFile() {}

    /**
     * Parses the file.
     *
     * @param archive the archive's name, for messages
     * @throws KilnException if it is missing, too large, or not JSON
     */
    static JsonNode parse(String archive, SortedMap<String, Bytes> files) {
        String where = archive + ": " + ArchivePaths.METADATA;
        Bytes content = files.get(ArchivePaths.METADATA);
        if (content == null) {
            throw Failure.ARCHIVE.exception(
                    "there is no " + ArchivePaths.METADATA, archive, "a Model Library Format archive");
        }
        if (content.size() > MOST_BYTES) {
            throw Failure.ARCHIVE.exception(
                    "has " + content.size() + " bytes", where, "at most " + MOST_BYTES + " bytes of JSON");
        }
        try {
            return mapper().readTree(content.text());
        } catch (JsonProcessingException e) {
            String line = e.getLocation() == null ? "" : ":" + e.getLocation().getLineNr();
            throw new KilnException(
                    Failure.ARCHIVE.problem(
                            "this is not JSON: " + e.getOriginalMessage(), where + line, "a JSON object"),
                    e);
        }
    }

    /**
     * The version of the format.
     *
     * @throws KilnException if it is missing or unknown
     */
    static FormatVersion version(JsonKey root, Problems problems) {
        if (!root.isObject()) {
            root.wrong("a JSON object");
            problems.throwIfAny();
        }
        JsonKey version = root.at("version");
        int number = version.number();
        problems.throwIfAny();
        if (!FormatVersion.isKnown(number)) {
            version.wrong(
                    FormatVersion.OLDEST.number() + " to " + FormatVersion.NEWEST.number(),
                    number > FormatVersion.NEWEST.number()
                            ? "The archive is newer than this version of Kiln; use a newer Kiln"
                            : "");
        }
        problems.throwIfAny();
        return new FormatVersion(number);
    }

    /**
     * The models by name; before version 7, and in archives of single operators, there is one.
     *
     * @throws KilnException if there is no model
     */
    static SortedMap<String, JsonKey> models(FormatVersion version, JsonKey root, Problems problems) {
        SortedMap<String, JsonKey> models = new TreeMap<>();
        if (version.hasModules() && !OperatorStyle.isOf(version, root)) {
            models.putAll(root.at("modules").entries());
            if (problems.isEmpty() && models.isEmpty()) {
                root.at("modules").wrong("at least one model");
            }
        } else {
            models.put(root.at("model_name").text(), root);
        }
        problems.throwIfAny();
        return models;
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
