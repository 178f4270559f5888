// SPDX-License-Identifier: Apache-2.0
package io.kiln.base.incremental;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.Bytes;
import io.kiln.base.incremental.Fingerprint.NoInput;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class FingerprintTest {
    @TempDir
    Path folder;

    /** A place of a shape. */
    public sealed interface Shape {
        /** A kind without components. */
        record Point() implements Shape {}

        /** Another one. */
        record Nothing() implements Shape {}
    }

    /** A record with one component of each kind. */
    public record Whole(
            String text,
            long number,
            Optional<String> maybe,
            OptionalLong limit,
            List<String> names,
            List<Part> parts,
            @NoInput(because = "a test has it") String never,

            @NoInput(of = "one", because = "the other result has it")
            String sometimes) {}

    /** A part of it. */
    public record Part(Shape shape, Duration time) {}

    private static final Whole WHOLE = new Whole(
            "a", 1, Optional.empty(), OptionalLong.empty(), List.of("x"), List.of(part(new Shape.Point())), "n", "s");

    private static Part part(Shape shape) {
        return new Part(shape, Duration.ofSeconds(2));
    }

    private static Map<String, String> parts(Object value) {
        return Fingerprint.of("one").value("", value).parts();
    }

    @Test
    void aRecordIsTakenWithAllOfItsComponentsExceptThoseThatAreNoInput() {
        assertThat(parts(WHOLE))
                .containsExactly(
                        Map.entry("names", "[\"x\"]"),
                        Map.entry("number", "1"),
                        Map.entry("parts", "1 elements"),
                        Map.entry("parts[0].shape", "Point"),
                        Map.entry("parts[0].time", "PT2S"),
                        Map.entry("text", "a"));
        assertThat(Fingerprint.of("two").value("it", WHOLE).parts())
                .containsEntry("it.sometimes", "s")
                .doesNotContainKey("it.never");
    }

    @Test
    void kindsWithoutComponentsAndEmptyValuesDiffer() {
        assertThat(parts(part(new Shape.Point()))).isNotEqualTo(parts(part(new Shape.Nothing())));
        assertThat(parts(Optional.of(""))).isNotEqualTo(parts(Optional.empty()));
        assertThat(parts(Optional.of(List.of()))).isNotEqualTo(parts(Optional.empty()));
        assertThat(parts(List.of("a, b"))).isNotEqualTo(parts(List.of("a", "b")));
        assertThat(parts(List.of("a\",\"b"))).isNotEqualTo(parts(List.of("a", "b")));
        assertThat(parts(List.of(Optional.of("a"), Optional.empty())))
                .isNotEqualTo(parts(List.of(Optional.empty(), Optional.of("a"))));
    }

    @Test
    void theOrderOfSetsAndMapsIsNoInputButThatOfListsIs() {
        assertThat(parts(new LinkedHashSet<>(List.of("b", "a")))).isEqualTo(parts(Set.of("a", "b")));
        assertThat(parts(new LinkedHashSet<>(List.of(part(new Shape.Nothing()), part(new Shape.Point())))))
                .isEqualTo(parts(Set.of(part(new Shape.Point()), part(new Shape.Nothing()))));
        Map<String, Integer> map = new LinkedHashMap<>();
        map.put("b", 2);
        map.put("a", 1);
        assertThat(parts(map)).isEqualTo(parts(Map.of("a", 1, "b", 2))).hasSize(3);
        assertThat(parts(List.of("b", "a"))).isNotEqualTo(parts(List.of("a", "b")));
    }

    @Test
    void aValueWithoutCanonicalFormIsRefusedByName() {
        assertThatThrownBy(() -> parts(new Holder(Thread.currentThread())))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("thread has no canonical form: class java.lang.Thread");
    }

    /** Of something that has no canonical form. */
    public record Holder(Thread thread) {}

    @Test
    void aPathIsWhatItNamesAndNotWhereItLies() throws IOException {
        Path one = files(folder.resolve("one"));
        Path two = files(folder.resolve("two"));
        assertThat(parts(one))
                .isEqualTo(parts(two))
                .containsOnlyKeys("", "/a.c", "/sub/b.c")
                .containsEntry("", "2 files");
        assertThat(parts(one.resolve("a.c"))).isEqualTo(parts(two.resolve("a.c")));
        assertThat(parts(Files.createSymbolicLink(folder.resolve("link"), one))).isEqualTo(parts(one));
        Files.writeString(two.resolve("sub/b.c"), "c");
        assertThat(parts(one)).isNotEqualTo(parts(two));
        assertThat(parts(folder.resolve("none.c"))).containsExactly(Map.entry("none.c", "absent"));
    }

    private static Path files(Path root) throws IOException {
        Files.createDirectories(root.resolve("sub"));
        Files.writeString(root.resolve("sub/b.c"), "b");
        Files.writeString(root.resolve("a.c"), "a");
        return root;
    }

    @Test
    void contentIsItsDigest() throws IOException {
        String digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        Path file = Files.writeString(folder.resolve("x"), "abc");
        assertThat(Fingerprint.digest(file)).isEqualTo(digest);
        assertThat(parts(Bytes.ofText("abc"))).containsEntry("", digest);
        assertThat(parts("a\nb").get("")).matches("[0-9a-f]{64}");
    }

    /** One fork of the tests runs in Arabic, whose digits are others. */
    @Test
    void theLocaleIsNoInput() {
        assertThat(parts(List.of(1234567, 1.5, Optional.of(Duration.ofMillis(1500))))
                        .values())
                .containsExactlyInAnyOrder("3 elements", "1234567", "1.5", "PT1.5S");
    }
}
