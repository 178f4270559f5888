// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware.update;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Bytes;
import io.kiln.base.ResourceTree;
import io.kiln.base.WholeFiles;
import io.kiln.process.Command;
import io.kiln.process.ProcessRunner;
import io.kiln.process.ProcessRunner.ProcessResult;
import io.kiln.toolchain.compiler.TestToolchains;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.MessageDigest;
import java.security.PrivateKey;
import java.security.Signature;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Verdicts of the verification in C, compiled for this computer. */
class Ed25519Test {
    /** Signatures in every build; {@code -Dkiln.ed25519=100000} takes more. */
    private static final int CASES = 1000;

    private static final long SEED = 20260301;
    private static final HexFormat HEX = HexFormat.of();

    /** 2^255 - 19. */
    private static final BigInteger PRIME = BigInteger.ONE.shiftLeft(255).subtract(BigInteger.valueOf(19));

    /** RFC 8032, section 5.1: the order of the base point. */
    private static final BigInteger ORDER =
            BigInteger.ONE.shiftLeft(252).add(new BigInteger("27742317777372353535851937790883648493"));

    @TempDir
    private static Path folder;

    private static final class Signed {
        private final byte[] key;
        private final byte[] signature;
        private final byte[] message;

        Signed(byte[] key, byte[] signature, byte[] message) {
            this.key = key;
            this.signature = signature;
            this.message = message;
        }

        static Signed of(String key, String signature, byte[] message) {
            return new Signed(HEX.parseHex(key), HEX.parseHex(signature), message);
        }
    }

    @BeforeAll
    static void compile() {
        TestToolchains.resolve("host", "c -keys=cpu -model=host");
        ResourceTree.read("update")
                .forEach((name, content) -> WholeFiles.write(folder.resolve(name), content.toArray()));
        compile("verdicts", List.of());
        compile("watched", List.of("-fsanitize=undefined", "-fno-sanitize-recover=all"));
    }

    private static void compile(String program, List<String> more) {
        Path tests = Path.of("src", "test", "c").toAbsolutePath();
        List<String> arguments = new ArrayList<>(
                List.of("-std=c11", "-O2", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror", "-I."));
        arguments.addAll(more);
        arguments.addAll(List.of(
                "-I" + tests, "-o", program, tests.resolve("ed25519_verdicts.c").toString()));
        arguments.addAll(List.of("kiln_ed25519.c", "kiln_field25519.c", "kiln_sha512.c"));
        ProcessResult result = ProcessRunner.run(Command.of("cc", arguments).in(folder));
        assertThat(result.succeeded()).as(result.message()).isTrue();
    }

    /** A character for each signature, 1 if it is right; computed under the sanitizer for undefined behaviour. */
    private static String verdicts(List<Signed> all) {
        return verdicts("watched", all);
    }

    private static String verdicts(String program, List<Signed> all) {
        ByteArrayOutputStream input = new ByteArrayOutputStream();
        for (Signed each : all) {
            input.writeBytes(each.key);
            input.writeBytes(each.signature);
            input.writeBytes(ByteBuffer.allocate(4)
                    .order(ByteOrder.LITTLE_ENDIAN)
                    .putInt(each.message.length)
                    .array());
            input.writeBytes(each.message);
        }
        ProcessResult result =
                ProcessRunner.run(Command.of(folder.resolve(program).toString())
                        .in(folder)
                        .within(Duration.ofHours(1))
                        .reading(Bytes.wrap(input.toByteArray())));
        assertThat(result.succeeded()).as(result.message()).isTrue();
        return result.output();
    }

    /** RFC 8032, section 7.1: all five. */
    private static List<Signed> vectors() throws GeneralSecurityException, IOException {
        byte[] abc = MessageDigest.getInstance("SHA-512").digest("abc".getBytes(StandardCharsets.US_ASCII));
        String longMessage = Files.readString(Path.of("src/test/resources/update/rfc8032-test-1024.hex"))
                .replaceAll("\\s", "");
        return List.of(
                Signed.of(
                        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
                        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
                        new byte[0]),
                Signed.of(
                        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
                        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
                        new byte[] {0x72}),
                Signed.of(
                        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
                        "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
                        new byte[] {(byte) 0xaf, (byte) 0x82}),
                Signed.of(
                        "278117fc144c72340f67d0f2316e8386ceffbf2b2428c9c51fef7c597f1d426e",
                        "0aab4c900501b3e24d7cdf4663326a3a87df5e4843b2cbdb67cbf6e460fec350aa5371b1508f9f4528ecea23c436d94b5e8fcd4f681e30a6ac00a9704a188a03",
                        HEX.parseHex(longMessage)),
                Signed.of(
                        "ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf",
                        "dc2a4459e7369633a52b1bf277839a00201009a3efbf3ecb69bea2186c26b58909351fc9ac90b3ecfdfbc7c66431e0303dca179c138ac17ad9bef1177331a704",
                        abc));
    }

    @Test
    void theVectorsOfTheRfcAreRightAndNoBitMayDiffer() throws Exception {
        List<Signed> vectors = vectors();
        assertThat(vectors.get(3).message).hasSize(1023);
        assertThat(verdicts(vectors)).isEqualTo("11111");
        List<Signed> flipped = new ArrayList<>();
        for (int bit = 0; bit < 512; bit += 3) {
            Signed right = vectors.get(1);
            flipped.add(new Signed(right.key, flip(right.signature, bit), right.message));
            flipped.add(new Signed(flip(right.key, bit % 256), right.signature, right.message));
        }
        flipped.add(new Signed(vectors.get(1).key, vectors.get(1).signature, new byte[] {0x73}));
        assertThat(verdicts(flipped)).isEqualTo("0".repeat(flipped.size()));
    }

    /** What the JDK signed, half of it with one bit of key, signature or message flipped; the JDK's own verdict is expected. */
    @Test
    void randomSignaturesAreJudgedAsTheJdkJudgesThem() throws Exception {
        int cases = Integer.getInteger("kiln.ed25519", CASES);
        Random random = new Random(SEED);
        KeyPairGenerator generator = KeyPairGenerator.getInstance("Ed25519");
        List<Signed> all = new ArrayList<>();
        StringBuilder expected = new StringBuilder();
        KeyPair pair = generator.generateKeyPair();
        for (int i = 0; i < cases; i++) {
            if (i % 10 == 0) {
                pair = generator.generateKeyPair();
            }
            byte[] message = new byte[random.nextInt(400)];
            random.nextBytes(message);
            Signed right = signed(pair, message);
            Signed judged = random.nextBoolean() ? right : spoiled(right, random);
            all.add(judged);
            expected.append(UpdateKey.isSigned(Bytes.wrap(judged.key), judged.message, judged.signature) ? '1' : '0');
        }
        assertThat(expected.toString()).contains("0").contains("1");
        assertThat(verdicts("verdicts", all)).isEqualTo(expected.toString());
    }

    private static Signed signed(KeyPair pair, byte[] message) throws GeneralSecurityException {
        byte[] key = pair.getPublic().getEncoded();
        return new Signed(
                Arrays.copyOfRange(key, key.length - 32, key.length), sign(pair.getPrivate(), message), message);
    }

    private static byte[] sign(PrivateKey secret, byte[] message) throws GeneralSecurityException {
        Signature signature = Signature.getInstance("Ed25519");
        signature.initSign(secret);
        signature.update(message);
        return signature.sign();
    }

    private static Signed spoiled(Signed right, Random random) {
        return switch (random.nextInt(right.message.length == 0 ? 2 : 3)) {
            case 0 -> new Signed(flip(right.key, random.nextInt(256)), right.signature, right.message);
            case 1 -> new Signed(right.key, flip(right.signature, random.nextInt(512)), right.message);
            default ->
                new Signed(right.key, right.signature, flip(right.message, random.nextInt(8 * right.message.length)));
        };
    }

    private static byte[] flip(byte[] bytes, int bit) {
        byte[] flipped = bytes.clone();
        flipped[bit / 8] ^= (byte) (1 << bit % 8);
        return flipped;
    }

    /** A greater S is the same number modulo the order, and the equation holds; RFC 8032, section 5.1.7, refuses it. */
    @Test
    void anSThatIsNotReducedIsRefused() throws Exception {
        List<Signed> all = new ArrayList<>();
        for (Signed right : vectors()) {
            BigInteger s = little(Arrays.copyOfRange(right.signature, 32, 64));
            for (BigInteger more = s.add(ORDER); more.bitLength() <= 256; more = more.add(ORDER)) {
                byte[] signature = right.signature.clone();
                System.arraycopy(bytes(more), 0, signature, 32, 32);
                all.add(new Signed(right.key, signature, right.message));
            }
        }
        assertThat(all).hasSizeGreaterThan(50);
        assertThat(verdicts(all)).isEqualTo("0".repeat(all.size()));
    }

    /** The numbers from p to 2^255 - 1 encode the same as 0 to 18, with either sign. */
    @Test
    void aYThatIsNotReducedIsRefused() throws Exception {
        List<Signed> all = new ArrayList<>();
        Signed right = vectors().get(0);
        for (int y = 0; y < 19; y++) {
            byte[] same = bytes(PRIME.add(BigInteger.valueOf(y)));
            for (byte[] point : List.of(same, flip(same, 255))) {
                byte[] signature = right.signature.clone();
                System.arraycopy(point, 0, signature, 0, 32);
                all.add(new Signed(right.key, signature, right.message));
                all.add(new Signed(point, right.signature, right.message));
                // With S = 0 and a key of order 1 any message is signed by R = the neutral point.
                all.add(new Signed(point, concat(bytes(BigInteger.ONE), new byte[32]), right.message));
            }
        }
        assertThat(verdicts(all)).isEqualTo("0".repeat(all.size()));
    }

    /** The eight points whose eightfold is neutral, each as key and as R, with S = 0, for which the equation often holds. */
    @Test
    void pointsOfSmallOrderAreRefused() {
        List<byte[]> points = smallOrder();
        assertThat(points.stream().map(HEX::formatHex).collect(Collectors.toSet()))
                .hasSize(8);
        List<Signed> all = new ArrayList<>();
        for (byte[] key : points) {
            for (byte[] r : points) {
                for (byte message = 0; message < 16; message++) {
                    all.add(new Signed(key, concat(r, new byte[32]), new byte[] {message}));
                }
            }
        }
        assertThat(verdicts(all)).isEqualTo("0".repeat(all.size()));
    }

    /** Orders 1, 2 and 4 follow from the equation of the curve; those of order 8 from doubling (x, y) to (x', 0). */
    private static List<byte[]> smallOrder() {
        List<byte[]> points = new ArrayList<>();
        points.add(bytes(BigInteger.ONE));
        points.add(bytes(PRIME.subtract(BigInteger.ONE)));
        points.add(bytes(BigInteger.ZERO));
        points.add(flip(bytes(BigInteger.ZERO), 255));
        byte[] eight = HEX.parseHex("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a");
        byte[] other = bytes(PRIME.subtract(little(eight)));
        points.addAll(List.of(eight, flip(eight, 255), other, flip(other, 255)));
        return points;
    }

    private static BigInteger little(byte[] bytes) {
        byte[] big = new byte[bytes.length];
        for (int i = 0; i < bytes.length; i++) {
            big[i] = bytes[bytes.length - 1 - i];
        }
        return new BigInteger(1, big);
    }

    /** The 32 bytes of a number, least significant first. */
    private static byte[] bytes(BigInteger number) {
        byte[] bytes = new byte[32];
        for (int i = 0; i < 32; i++) {
            bytes[i] = number.shiftRight(8 * i).byteValue();
        }
        return bytes;
    }

    private static byte[] concat(byte[] first, byte[] second) {
        byte[] both = Arrays.copyOf(first, first.length + second.length);
        System.arraycopy(second, 0, both, first.length, second.length);
        return both;
    }
}
