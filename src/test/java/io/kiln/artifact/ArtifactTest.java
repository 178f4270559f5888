// SPDX-License-Identifier: Apache-2.0
package io.kiln.artifact;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.artifact.BuildOutput.InMemoryArtifact;
import io.kiln.base.Bytes;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.zip.CRC32;
import org.junit.jupiter.api.Test;

class ArtifactTest {
    private static final String CHARACTERS = "abzAZ019_-.";

    private static final Artifact SOURCE = Artifact.ofText("c", ArtifactKind.SOURCE, "a.c", "int a;\n");

    @Test
    void kindFollowsFromLoaderAndSuffix() {
        assertThat(ArtifactKind.of("native", "a.c")).isEqualTo(ArtifactKind.SOURCE);
        assertThat(ArtifactKind.of("native", "x/a.cc")).isEqualTo(ArtifactKind.SOURCE);
        assertThat(ArtifactKind.of("native", "a.h")).isEqualTo(ArtifactKind.HEADER);
        assertThat(ArtifactKind.of("dso", "a.o")).isEqualTo(ArtifactKind.OBJECT);
        assertThat(ArtifactKind.of("graph", "a.graph")).isEqualTo(ArtifactKind.GRAPH);
        assertThat(ArtifactKind.of("ethos-u", "a.bin")).isEqualTo(ArtifactKind.PAYLOAD);
    }

    @Test
    void wrongNamesAreNamedAllAtOnce() {
        assertThatThrownBy(() -> new Artifact("c c", "", "../a", Bytes.ofText(""), ".."))
                .hasMessageContaining("`c c` cannot be the name of a code generator")
                .hasMessageContaining("`` cannot be the name of a loader")
                .hasMessageContaining("`../a` cannot be the name of an artifact's file")
                .hasMessageContaining("`..` cannot be the name of a target key");
        for (String name : List.of("/a", "a/", "a//b", "a/../b", ".", "a b", "a\\b", "\u00e9.c", "")) {
            assertThatThrownBy(() -> Artifact.ofText("c", ArtifactKind.SOURCE, name, ""))
                    .hasMessageContaining("cannot be the name of an artifact's file");
        }
        assertThatThrownBy(() -> Artifact.ofText("c", ArtifactKind.HEADER, "a.c", ""))
                .hasMessageContaining("the file's suffix makes it a SOURCE, not a HEADER");
    }

    @Test
    void namesAreUniqueWithinTargetKeyAndCodeGenerator() {
        SortedMap<String, String> targets = new TreeMap<>(Map.of("host", "c", "npu", "c"));
        assertThatThrownBy(() -> new ArtifactSet(List.of(SOURCE, SOURCE.withContent(Bytes.ofText("int b;"))), targets))
                .hasMessageContaining("artifact `a.c` of code generator `c`: two artifacts of target key `host`");
        // Two equal strings are two targets: the same device twice, programmed differently.
        assertThat(new ArtifactSet(List.of(SOURCE, SOURCE.withTargetKey("npu")), targets).artifacts())
                .hasSize(2);
        assertThatThrownBy(() -> new ArtifactSet(List.of(SOURCE.withTargetKey("dsp")), targets))
                .hasMessageContaining("its target key `dsp` is not among the targets; expected one of host, npu");
    }

    @Test
    void orderDoesNotMatter() {
        Random random = new Random(7);
        ArtifactSet set = set(random);
        List<Artifact> shuffled = new ArrayList<>(set.artifacts());
        Collections.shuffle(shuffled, random);
        assertThat(new ArtifactSet(shuffled, set.targets())).isEqualTo(set);
    }

    @Test
    void outputsInMemoryRefuseExportByName() {
        InMemoryArtifact jit = new InMemoryArtifact("llvmjit", "default_lib1", () -> "a module");
        assertThatThrownBy(() -> ArtifactSet.of(List.of(SOURCE, jit), Map.of()))
                .hasMessageContaining("`default_lib1` of code generator `llvmjit` exists only in this process");
        assertThat(jit.load().get()).isEqualTo("a module");
        assertThat(ArtifactSet.of(List.of(SOURCE), Map.of("host", "c")).artifacts())
                .containsExactly(SOURCE);
    }

    @Test
    void bytesOfAnArtifactAreAsDocumented() {
        Artifact artifact = new Artifact("c", "npu", "x", Bytes.ofText("AB"), "host");
        ByteBuffer expected = ByteBuffer.allocate(200).order(ByteOrder.LITTLE_ENDIAN);
        expected.put("KILNART1".getBytes(StandardCharsets.US_ASCII)).putInt(5);
        List<String> fields = List.of("c", "npu", "x", "host", "AB");
        for (int i = 0; i < 5; i++) {
            byte[] field = fields.get(i).getBytes(StandardCharsets.US_ASCII);
            expected.putShort((short) (i + 1)).putLong(field.length).put(field);
        }
        byte[] body = new byte[expected.position()];
        expected.flip().get(body);
        assertThat(artifact.export()).isEqualTo(sealed(body));
    }

    @Test
    void unknownFieldsAreSkippedOnlyIfTheyMayBe() {
        byte[] body = unsealed(SOURCE.export());
        assertThat(Artifact.load(sealed(withField(body, 0x8000)), "a.bin")).isEqualTo(SOURCE);
        assertThatThrownBy(() -> Artifact.load(sealed(withField(body, 6)), "a.bin"))
                .hasMessageContaining("a.bin, offset 0x")
                .hasMessageContaining("tag 6 is unknown");
        assertThatThrownBy(() -> Artifact.load(sealed(withField(body, 5)), "a.bin"))
                .hasMessageContaining("tag 5 follows tag 5");
    }

    @Test
    void damageIsFoundWithItsOffset() {
        byte[] blob = SOURCE.export().toArray();
        for (int i = 0; i < blob.length; i++) {
            byte[] changed = blob.clone();
            changed[i] ^= 1;
            assertThatThrownBy(() -> Artifact.load(Bytes.wrap(changed), "a.bin"))
                    .hasMessageContaining("a.bin, offset 0x");
            Bytes cut = Bytes.wrap(Arrays.copyOf(blob, i));
            assertThatThrownBy(() -> Artifact.load(cut, "a.bin")).hasMessageContaining("a.bin, offset 0x");
        }
        Bytes longer = Bytes.wrap(Arrays.copyOf(blob, blob.length + 1));
        assertThatThrownBy(() -> Artifact.load(longer, "a.bin")).hasMessageContaining("1 bytes follow");
    }

    @Test
    void tenThousandSetsSurviveTheRoundTrip() {
        Random random = new Random(1);
        for (int i = 0; i < 10_000; i++) {
            ArtifactSet set = set(random);
            Bytes blob = set.export();
            ArtifactSet read = ArtifactSet.load(blob, "set.bin");
            assertThat(read).isEqualTo(set);
            assertThat(read.export()).isEqualTo(blob);
        }
    }

    private static ArtifactSet set(Random random) {
        SortedMap<String, String> targets = new TreeMap<>();
        for (int i = random.nextInt(4); i >= 0; i--) {
            targets.put(name(random), random.nextBoolean() ? "c" : "llvm -mcpu=\u00e9");
        }
        List<String> keys = List.copyOf(targets.keySet());
        Map<List<String>, Artifact> artifacts = new TreeMap<>(Comparator.comparing(List::toString));
        for (int i = random.nextInt(6); i > 0; i--) {
            byte[] content = new byte[random.nextInt(40)];
            random.nextBytes(content);
            Artifact artifact = new Artifact(
                    name(random),
                    random.nextInt(3) == 0 ? "native" : name(random),
                    random.nextBoolean() ? name(random) : name(random) + "/" + name(random),
                    Bytes.wrap(content),
                    keys.get(random.nextInt(keys.size())));
            artifacts.put(List.of(artifact.targetKey(), artifact.codegenId(), artifact.fileName()), artifact);
        }
        return new ArtifactSet(List.copyOf(artifacts.values()), targets);
    }

    private static String name(Random random) {
        StringBuilder name = new StringBuilder("x");
        for (int i = random.nextInt(3); i > 0; i--) {
            name.append(CHARACTERS.charAt(random.nextInt(CHARACTERS.length())));
        }
        return name.toString();
    }

    private static byte[] unsealed(Bytes blob) {
        return Arrays.copyOf(blob.toArray(), blob.size() - 4);
    }

    private static byte[] withField(byte[] body, int tag) {
        ByteBuffer longer = ByteBuffer.allocate(body.length + 11).order(ByteOrder.LITTLE_ENDIAN);
        longer.put(body).putShort((short) tag).putLong(1).put((byte) 9);
        return longer.putInt(8, 6).array();
    }

    private static Bytes sealed(byte[] body) {
        CRC32 crc = new CRC32();
        crc.update(body);
        return Bytes.wrap(ByteBuffer.allocate(body.length + 4)
                .order(ByteOrder.LITTLE_ENDIAN)
                .put(body)
                .putInt((int) crc.getValue())
                .array());
    }
}
