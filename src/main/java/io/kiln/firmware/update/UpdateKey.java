// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware.update;

import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.FileFailure;
import io.kiln.base.KilnException;
import io.kiln.process.Command.ShellWords;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.SecureRandom;
import java.security.Signature;
import java.security.interfaces.EdECPrivateKey;
import java.security.spec.NamedParameterSpec;
import java.security.spec.PKCS8EncodedKeySpec;
import java.security.spec.X509EncodedKeySpec;
import java.util.Arrays;
import java.util.Base64;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The Ed25519 key (RFC 8032) that signs updates. Only its public half is written anywhere. */
public final class UpdateKey {
    public static final int PUBLIC_BYTES = 32;

    private static final String ALGORITHM = "Ed25519";
    private static final int MOST_BYTES = 16 << 10;
    private static final Pattern PEM =
            Pattern.compile("-----BEGIN PRIVATE KEY-----([A-Za-z0-9+/=\\s]+)-----END PRIVATE KEY-----");

    private static final Set<PosixFilePermission> OWNERS = PosixFilePermissions.fromString("rwx------");

    /** The bytes before the 32 bytes of an Ed25519 key in a SubjectPublicKeyInfo: RFC 8410, section 4. */
    private static final byte[] INFO = {0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00};

    private final PrivateKey secret;
    private final Bytes open;

    private UpdateKey(PrivateKey secret, Bytes open) {
        this.secret = secret;
        this.open = open;
    }

    /**
     * Reads an unencrypted PKCS#8 key in PEM, as {@code openssl genpkey -algorithm ed25519} writes it.
     *
     * @throws KilnException if the file cannot be read, is not such a key, or others may read it
     */
    public static UpdateKey read(Path file) {
        try {
            if (Files.size(file) > MOST_BYTES) {
                throw notAKey(file, "it is larger than " + MOST_BYTES + " bytes");
            }
            Matcher pem = PEM.matcher(Files.readString(file, StandardCharsets.ISO_8859_1));
            if (!pem.find()) {
                throw notAKey(file, "it has no block PRIVATE KEY");
            }
            byte[] der = Base64.getMimeDecoder().decode(pem.group(1));
            PrivateKey secret = KeyFactory.getInstance(ALGORITHM).generatePrivate(new PKCS8EncodedKeySpec(der));
            requirePrivate(file);
            return new UpdateKey(secret, publicKey(secret));
        } catch (IOException e) {
            throw FileFailure.of("cannot read", file, e);
        } catch (GeneralSecurityException | IllegalArgumentException e) {
            throw notAKey(file, "it holds a key of another algorithm, or a damaged one");
        }
    }

    /** Refuses a key's file that others may read. Where files have no such permissions, only the system can tell who may read them. */
    private static void requirePrivate(Path file) throws IOException {
        PosixFileAttributeView view = Files.getFileAttributeView(file, PosixFileAttributeView.class);
        if (view == null) {
            return;
        }
        Set<PosixFilePermission> permissions = view.readAttributes().permissions();
        if (!OWNERS.containsAll(permissions)) {
            throw Failure.TRUST.exception(
                    "others may use the key that signs updates: its permissions are "
                            + PosixFilePermissions.toString(permissions),
                    file.toString(),
                    "a private key that only its owner may read, rw-------",
                    "chmod 600 " + ShellWords.quote(file.toString()));
        }
    }

    private static KilnException notAKey(Path file, String why) {
        return Failure.UPDATE.exception(
                "not a key that signs updates: " + why,
                file.toString(),
                "an Ed25519 key as PKCS#8 in PEM, not encrypted",
                "openssl genpkey -algorithm ed25519 -out update-key.pem");
    }

    /** The public key of a secret key: a generator takes the secret key's 32 bytes from its source of randomness, and computes the public key. */
    private static Bytes publicKey(PrivateKey secret) throws GeneralSecurityException {
        byte[] seed = ((EdECPrivateKey) secret).getBytes().orElseThrow();
        KeyPairGenerator generator = KeyPairGenerator.getInstance(ALGORITHM);
        generator.initialize(NamedParameterSpec.ED25519, new Seed(seed));
        byte[] encoded = generator.generateKeyPair().getPublic().getEncoded();
        return Bytes.copyOf(Arrays.copyOfRange(encoded, INFO.length, INFO.length + PUBLIC_BYTES));
    }

    /** A source of randomness that gives known bytes. */
    private static final class Seed extends SecureRandom {
        private static final long serialVersionUID = 1;
        private final byte[] seed;

        Seed(byte[] seed) {
            this.seed = seed.clone();
        }

        @Override
        public void nextBytes(byte[] bytes) {
            System.arraycopy(seed, 0, bytes, 0, bytes.length);
        }
    }

    /** The public key, 32 bytes. */
    public Bytes publicBytes() {
        return open;
    }

    /** The public key as SubjectPublicKeyInfo in DER. */
    Bytes publicInfo() {
        return Bytes.wrap(info(open));
    }

    private static byte[] info(Bytes key) {
        byte[] encoded = Arrays.copyOf(INFO, INFO.length + PUBLIC_BYTES);
        key.buffer().get(encoded, INFO.length, PUBLIC_BYTES);
        return encoded;
    }

    /** The signature of a message, 64 bytes. */
    byte[] sign(byte[] message) {
        try {
            Signature signature = Signature.getInstance(ALGORITHM);
            signature.initSign(secret);
            signature.update(message);
            return signature.sign();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every Java platform since 15 has Ed25519", e);
        }
    }

    /**
     * Whether the owner of a key signed a message.
     *
     * @param key 32 bytes
     */
    static boolean isSigned(Bytes key, byte[] message, byte[] signed) {
        try {
            PublicKey open = KeyFactory.getInstance(ALGORITHM).generatePublic(new X509EncodedKeySpec(info(key)));
            Signature signature = Signature.getInstance(ALGORITHM);
            signature.initVerify(open);
            signature.update(message);
            return signature.verify(signed);
        } catch (GeneralSecurityException e) {
            return false; // The bytes are not a valid key or signature.
        }
    }
}
