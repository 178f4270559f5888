// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import io.kiln.base.Digests;
import io.kiln.base.incremental.FileDigests;
import io.kiln.base.incremental.Fingerprint;
import io.kiln.base.incremental.Made;
import io.kiln.toolchain.compiler.SourceKind;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * The place of one source in the {@link ObjectCache}. Its object is taken from there if the same compiler has made it
 * from the same command line, source and headers, and if no header was added that the compiler might read instead.
 */
final class CachedObject {
    /** Sources with these words depend on more than the contents of the files that compilers list. */
    private static final List<String> UNLISTED = List.of(
            "__has_include", "__has_embed", "embed", "incbin", ".include", "__DATE__", "__TIME__", "__TIMESTAMP__");

    private final FirmwareProject project;
    private final SourceUnit unit;
    private final ObjectCache cache;

    CachedObject(FirmwareProject project, SourceUnit unit) {
        this.project = project;
        this.unit = unit;
        this.cache = ObjectCache.of(project.toolchain());
    }

    /**
     * Writes the object if it is in the cache.
     *
     * @param line the command line with neutral names of outputs
     * @param rivals files that may hide others of these
     * @return digests of the files read, by name
     */
    Optional<Map<String, String>> find(
            List<String> line,
            FileDigests digests,
            Function<Set<String>, List<String>> rivals,
            Optional<Fence> fence,
            Path object) {
        Optional<String> source = digests.of(unit.path()).filter(digest -> isEligible());
        return source.flatMap(digest -> cache.find(
                        key(line, digest),
                        made -> {
                            Set<String> files = Staleness.files(made);
                            return Staleness.reason(made, files, digests, rivals.apply(files))
                                            .isEmpty()
                                    && fence.flatMap(each -> each.strangerBeside(unit, List.copyOf(files)))
                                            .isEmpty();
                        },
                        object))
                .map(CachedObject::inputs);
    }

    /** Puts an object into the cache, unless it depends on more than the files read. */
    void keep(List<String> line, Map<String, String> inputs, Collection<String> rivals, Path object)
            throws IOException {
        if (!isEligible() || inputs.containsValue("") || !inputs.containsKey(unit.path()) || readsUnlisted(inputs)) {
            return;
        }
        cache.keep(
                key(line, inputs.get(unit.path())),
                Made.of(Staleness.inputs("", "", inputs, rivals), Map.of()),
                object);
    }

    /** Writes the object of text on the compiler's standard input, which reads no files, if it is in the cache. */
    boolean findText(List<String> line, byte[] text, Path object) {
        return cache.find(key(line, Digests.sha256(text)), made -> true, object).isPresent();
    }

    /** Puts the object of text on the compiler's standard input into the cache. */
    void keepText(List<String> line, byte[] text, Path object) {
        cache.keep(key(line, Digests.sha256(text)), Made.of(Fingerprint.of("object"), Map.of()), object);
    }

    /** Whether an object may be in the cache. The user's own C may read anything, and so may C of an archive that is not fenced. */
    private boolean isEligible() {
        return unit.path().endsWith(".c")
                && Set.of(SourceKind.OWN, SourceKind.SMALL, SourceKind.FREESTANDING)
                        .contains(unit.kind());
    }

    private boolean readsUnlisted(Map<String, String> inputs) throws IOException {
        for (String name : inputs.keySet()) {
            Path file = project.directory().resolve(name).normalize();
            if (file.startsWith(project.directory())) {
                String text = new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1);
                if (UNLISTED.stream().anyMatch(text::contains)) {
                    return true;
                }
            }
        }
        return false;
    }

    private String key(List<String> line, String source) {
        String command = String.join("\0", line)
                .replace(project.objectDirectory().toString(), "objects")
                .replace(project.directory().toString(), ".");
        return Digests.sha256(command + "\0" + unit.path() + "\0" + source);
    }

    private static Map<String, String> inputs(Made made) {
        Map<String, String> inputs = new TreeMap<>();
        Staleness.files(made).forEach(name -> inputs.put(name, Staleness.digest(made, name)));
        return inputs;
    }
}
