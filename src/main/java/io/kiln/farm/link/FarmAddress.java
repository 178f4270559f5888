// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.link;

import io.kiln.base.Failure;
import io.kiln.base.FileFailure;
import io.kiln.base.FolderLock;
import io.kiln.base.KilnException;
import io.kiln.base.ParameterValue;
import io.kiln.base.Problems;
import io.kiln.farm.link.FarmAddress.FarmAccess;
import io.kiln.farm.link.FarmAddress.FarmAccess.Store;
import io.netty.handler.ssl.NotSslRecordException;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermission;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.SecureRandom;
import java.security.UnrecoverableKeyException;
import java.security.cert.CertPathBuilderException;
import java.security.cert.CertPathValidatorException;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateParsingException;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSession;
import javax.net.ssl.TrustManagerFactory;

/**
 * Where a farm's broker is, and how to get in. Without TLS only a broker on this computer is reached.
 *
 * @param scheme which broker it is, and whether by TLS
 * @param host name or address
 * @param port 0 to 65535; 0 lets a broker choose
 * @param access the member's own identity, and whom it trusts
 * @param patience how long it may take to connect and to log in, on either side
 */
public record FarmAddress(Scheme scheme, String host, int port, FarmAccess access, Duration patience) {
    /** Which broker it is, and how it is reached. */
    public enum Scheme {
        /** Kiln's own broker, without TLS. */
        TCP(USUAL_PORT),
        /** Kiln's own broker by TLS. */
        TLS(USUAL_PORT),
        /** Any broker that speaks AMQP 1.0, without TLS. */
        AMQP(5672),
        /** Any broker that speaks AMQP 1.0, by TLS. */
        AMQPS(5671);

        private final int port;

        Scheme(int port) {
            this.port = port;
        }

        /** The same broker by TLS. */
        Scheme encrypted() {
            return isForeign() ? AMQPS : TLS;
        }

        private boolean isForeign() {
            return this == AMQP || this == AMQPS;
        }

        /** The scheme as addresses have it. */
        String text() {
            return ParameterValue.text(this);
        }
    }

    /** How long connecting may take if nothing else is said. */
    public static final Duration USUAL_PATIENCE = Duration.ofSeconds(20);

    /** The port of Artemis. */
    public static final int USUAL_PORT = 61616;

    private static final Pattern URL =
            Pattern.compile("(tcp|tls|amqps?)://([A-Za-z0-9.-]{1,253}|\\[[0-9a-fA-F:]{2,45}\\])(?::([0-9]{1,5}))?/?");
    private static final Set<String> LOOPBACK = Set.of("localhost", "127.0.0.1", "[::1]");

    /**
     * Reads an address.
     *
     * @param url {@code tcp://localhost:61616} or {@code tls://<host>:<port>}; {@code amqp://localhost:5672} or {@code amqps://<host>:<port>} for a
     *     broker of another make
     * @throws KilnException if it is not such an address, or something that it needs for TLS is missing
     */
    public static FarmAddress parse(String url, FarmAccess access) {
        Matcher matcher = URL.matcher(url.strip());
        if (!matcher.matches() || (matcher.group(3) != null && Integer.parseInt(matcher.group(3)) > 0xffff)) {
            throw Failure.FARM.exception(
                    "not the address of a farm: `" + url + "`",
                    "kiln.farm",
                    "tcp://localhost:" + USUAL_PORT
                            + " or tls://<host>:<port>, or amqps://<host>:<port> for a broker of another make");
        }
        Scheme scheme = Stream.of(Scheme.values())
                .filter(each -> each.text().equals(matcher.group(1)))
                .findFirst()
                .orElseThrow();
        int port = matcher.group(3) == null ? scheme.port : Integer.parseInt(matcher.group(3));
        return new FarmAddress(scheme, matcher.group(2), port, access, USUAL_PATIENCE);
    }

    /** The same address with another port. */
    public FarmAddress at(int otherPort) {
        return new FarmAddress(scheme, host, otherPort, access, patience);
    }

    /** The same address with another time for connecting. */
    public FarmAddress within(Duration otherPatience) {
        return new FarmAddress(scheme, host, port, access, otherPatience);
    }

    /** The address as {@code kiln.farm} has it. */
    public String url() {
        return scheme.text() + "://" + host + ":" + port;
    }

    public boolean isEncrypted() {
        return scheme == scheme.encrypted();
    }

    /** Whether the broker is of another make than Kiln's own. */
    public boolean isForeign() {
        return scheme.isForeign();
    }

    /** The same place by TLS. */
    FarmAddress encrypted() {
        return new FarmAddress(scheme.encrypted(), host, port, access, patience);
    }

    /** The host without the brackets of an IPv6 address. */
    public String bareHost() {
        return host.replaceAll("[\\[\\]]", "");
    }

    /** Whether only this computer reaches it. */
    public boolean isLoopback() {
        return LOOPBACK.contains(host);
    }

    /**
     * Checks what a member needs to get in.
     *
     * @throws KilnException with all that is missing
     */
    public void requireUsable() {
        Problems problems = new Problems(Failure.FARM);
        requireEncryption(problems);
        if (isEncrypted()) {
            require(problems, access.trust(), "kiln.farm.trustStore", "the broker's certificate, or its signer's");
        }
        requireProof(problems);
        requireStores(problems);
        problems.throwIfAny();
    }

    /**
     * Checks what a broker needs to listen there.
     *
     * @throws KilnException with all that is missing
     */
    public void requireSafe() {
        Problems problems = new Problems(Failure.FARM);
        requireEncryption(problems);
        if (isEncrypted()) {
            require(problems, access.keys(), "kiln.farm.keyStore", "the broker's key and certificate");
        }
        if (access.password().isEmpty() && (!isEncrypted() || access.trust().isEmpty())) {
            problems.add(
                    "refused: a broker that lets everybody in",
                    url(),
                    isEncrypted()
                            ? "kiln.farm.trustStore with the certificates of the farm's members, or kiln.farm.password"
                            : "a password");
        }
        requireStores(problems);
        problems.throwIfAny();
    }

    private void requireEncryption(Problems problems) {
        if (!isEncrypted() && !isLoopback()) {
            problems.add(
                    "refused: a farm on another computer without TLS",
                    url(),
                    encrypted().url(),
                    "Without TLS a farm stays on one computer: " + scheme.text() + "://localhost");
        }
    }

    private void requireProof(Problems problems) {
        if (access.password().isEmpty() && (!isEncrypted() || access.keys().isEmpty())) {
            problems.add(
                    "nothing says who this member of the farm is",
                    url(),
                    isEncrypted() ? "kiln.farm.keyStore with a certificate, or kiln.farm.password" : "a password");
        }
    }

    private static void require(Problems problems, Optional<Store> store, String parameter, String content) {
        if (store.isEmpty()) {
            problems.add(parameter + " is not set", "", "a PKCS #12 file with " + content);
        }
    }

    private void requireStores(Problems problems) {
        access.keys().ifPresent(store -> FarmStores.requireKeys(problems, store, Instant.now()));
        access.trust().ifPresent(store -> FarmStores.requireTrust(problems, store));
    }

    /**
     * How a member of a farm proves its identity, and whom it trusts.
     *
     * @param keys the member's own key and certificate
     * @param trust certificates of the members that it trusts, or of whoever signed these
     * @param password a password that all members of the farm know
     */
    public record FarmAccess(Optional<Store> keys, Optional<Store> trust, Optional<String> password) {
        /** Access by a password alone. */
        public static FarmAccess by(String password) {
            return new FarmAccess(Optional.empty(), Optional.empty(), Optional.of(password));
        }

        /**
         * A store of keys or certificates.
         *
         * @param file in the format PKCS #12
         * @param password its password
         */
        public record Store(Path file, String password) {
            /** The file, without the password. */
            @Override
            public String toString() {
                return file.toString();
            }
        }

        /** The kinds of proof, without secrets. */
        @Override
        public String toString() {
            return "keys " + keys + ", trust " + trust + (password.isPresent() ? ", a password" : "");
        }
    }

    /**
     * The password of farms without TLS: every user of a computer reaches its loopback interface, but only one of them can read this file. Whoever comes
     * first, a broker, a worker or a build, makes it; it stays.
     */
    public static final class LocalToken {
        /** Name of the file in {@code kiln.home}. */
        public static final String FILE = "farm.token";

        private static final int BYTES = 32;
        private static final Set<PosixFilePermission> OWNERS =
                EnumSet.of(PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE);

        private LocalToken() {}

        /**
         * The token, which is made if it is missing.
         *
         * @param home {@code kiln.home}, which all members on this computer share
         * @throws KilnException if it cannot be read, or others may read it
         */
        public static String of(Path home) {
            try (FolderLock lock = FolderLock.acquire(home, FILE)) {
                Path file = lock.guarding(home).resolve(FILE);
                if (!Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
                    make(file);
                }
                requirePrivate(file);
                String token = Files.readString(file, StandardCharsets.US_ASCII);
                if (token.length() != 2 * BYTES) {
                    throw Failure.FARM.exception(
                            "not the token of a farm",
                            file.toString(),
                            2 * BYTES + " digits",
                            "Delete it, and start the farm again");
                }
                return token;
            } catch (IOException e) {
                throw FileFailure.of("cannot use", home.resolve(FILE), e);
            }
        }

        private static void make(Path file) throws IOException {
            byte[] random = new byte[BYTES];
            new SecureRandom().nextBytes(random);
            // Temporary files are private from their beginning.
            Path temporary = Files.createTempFile(file.getParent(), "." + FILE, ".part");
            try {
                Files.writeString(temporary, HexFormat.of().formatHex(random), StandardCharsets.US_ASCII);
                Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE);
            } finally {
                Files.deleteIfExists(temporary);
            }
        }

        private static void requirePrivate(Path file) throws IOException {
            PosixFileAttributeView view =
                    Files.getFileAttributeView(file, PosixFileAttributeView.class, LinkOption.NOFOLLOW_LINKS);
            boolean isFile = Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS);
            if (!isFile
                    || (view != null
                            && !OWNERS.containsAll(view.readAttributes().permissions()))) {
                throw Failure.TRUST.exception(
                        "refused: others may read or change the token of this computer's farms",
                        file.toString(),
                        "a file of your own that nobody else reads",
                        "Others may know it: delete it, and start the farm again");
            }
        }
    }

    /** Opens a member's stores before a connection does: by then, every fault of a store looks like a broker that does not answer. */
    public static final class FarmStores {
        static final String FORMAT = "PKCS12";

        private FarmStores() {}

        /** Adds what is wrong with the store of a member's own key, or the broker's, at a point in time. */
        static void requireKeys(Problems problems, Store store, Instant now) {
            List<X509Certificate> own = certificates(problems, store, "kiln.farm.keyStore", true);
            for (X509Certificate certificate : own) {
                PeerCertificate.trouble(certificate, now)
                        .ifPresent(why -> problems.add(
                                "the certificate " + PeerCertificate.name(certificate) + " " + why,
                                "kiln.farm.keyStore " + store.file(),
                                "a certificate that is valid today",
                                "Make another one and give it to those who trust this one; the page \"Operate a"
                                        + " farm\" says how"));
            }
        }

        /** Adds what is wrong with a store of certificates that a member trusts. */
        static void requireTrust(Problems problems, Store store) {
            certificates(problems, store, "kiln.farm.trustStore", false);
        }

        /** The end of the validity of the certificate with which a store's owner proves who it is; empty if there is none. */
        public static Optional<Instant> end(Store store) {
            return certificates(new Problems(Failure.FARM), store, "", true).stream()
                    .map(certificate -> certificate.getNotAfter().toInstant())
                    .min(Instant::compareTo);
        }

        private static List<X509Certificate> certificates(
                Problems problems, Store store, String parameter, boolean areOwn) {
            String where = parameter + " " + store.file();
            if (!Files.isReadable(store.file())) {
                problems.add("cannot be read", where, "a PKCS #12 file");
                return List.of();
            }
            try {
                List<X509Certificate> found = certificates(load(store), areOwn);
                if (found.isEmpty()) {
                    problems.add(
                            areOwn ? "there is no key in it" : "there is no certificate to trust in it",
                            where,
                            areOwn
                                    ? "a key with its certificate"
                                    : "certificates without keys, or those of whoever signed them",
                            "keytool -list -keystore FILE shows what it has");
                }
                return found;
            } catch (IOException e) {
                boolean isPassword = e.getCause() instanceof UnrecoverableKeyException;
                problems.add(
                        isPassword ? "its password is another one" : "not a store: " + e.getMessage(),
                        where,
                        isPassword ? "the password that keytool was given" : "a PKCS #12 file",
                        isPassword ? "Set " + parameter + "Password" : "");
            } catch (GeneralSecurityException e) {
                problems.add("not a store: " + e.getMessage(), where, "a PKCS #12 file");
            }
            return List.of();
        }

        /**
         * TLS of somebody with these stores.
         *
         * @throws IOException if a store cannot be read
         * @throws GeneralSecurityException if one is of no use
         */
        public static SSLContext context(FarmAccess access) throws IOException, GeneralSecurityException {
            TrustManagerFactory trusted = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            trusted.init(load(access.trust().orElseThrow()));
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(keys(access), trusted.getTrustManagers(), null);
            return context;
        }

        static KeyManager[] keys(FarmAccess access) throws IOException, GeneralSecurityException {
            if (access.keys().isEmpty()) {
                return new KeyManager[0];
            }
            KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
            keys.init(load(access.keys().get()), access.keys().get().password().toCharArray());
            return keys.getKeyManagers();
        }

        static KeyStore load(Store store) throws IOException, GeneralSecurityException {
            return KeyStore.getInstance(store.file().toFile(), store.password().toCharArray());
        }

        private static List<X509Certificate> certificates(KeyStore store, boolean areOwn)
                throws GeneralSecurityException {
            List<X509Certificate> found = new ArrayList<>();
            for (String alias : Collections.list(store.aliases())) {
                Certificate certificate = store.getCertificate(alias);
                boolean isWanted = areOwn ? store.isKeyEntry(alias) : store.isCertificateEntry(alias);
                if (isWanted && certificate instanceof X509Certificate known) {
                    found.add(known);
                }
            }
            return found;
        }

        /**
         * What people need to know of the other side's certificate. Java does not look at the dates of a certificate that is trusted itself, rather than by
         * its signer, so farms do.
         */
        public static final class PeerCertificate {
            private PeerCertificate() {}

            /** Its owner, as in {@code CN=lab.example}. */
            static String name(X509Certificate certificate) {
                return certificate.getSubjectX500Principal().getName();
            }

            /** Why a certificate is not valid at a point in time; empty if it is. */
            static Optional<String> trouble(X509Certificate certificate, Instant now) {
                Instant end = certificate.getNotAfter().toInstant();
                Instant begin = certificate.getNotBefore().toInstant();
                if (now.isAfter(end)) {
                    return Optional.of("expired on " + end);
                }
                return now.isBefore(begin)
                        ? Optional.of("is not valid before " + begin + ", and this computer's clock says " + now)
                        : Optional.empty();
            }

            /** The same of what the other side of a connection has shown; empty if it has shown no certificate. */
            public static Optional<String> trouble(SSLSession connection, Instant now) {
                try {
                    X509Certificate shown = (X509Certificate) connection.getPeerCertificates()[0];
                    return trouble(shown, now).map(why -> "its certificate " + name(shown) + " " + why);
                } catch (SSLPeerUnverifiedException e) {
                    return Optional.empty();
                }
            }

            /** The hosts for which a certificate was issued. */
            static String hosts(X509Certificate certificate) {
                try {
                    Collection<List<?>> names = certificate.getSubjectAlternativeNames();
                    return names == null
                            ? "none"
                            : names.stream()
                                    .map(name -> String.valueOf(name.get(1)))
                                    .collect(Collectors.joining(", "));
                } catch (CertificateParsingException e) {
                    return "none that can be read";
                }
            }

            /** Whether a certificate was refused because nobody known has signed it, rather than for its host. */
            static boolean isFromStranger(CertificateException refusal) {
                for (Throwable cause = refusal; cause != null; cause = cause.getCause()) {
                    if (cause instanceof CertPathBuilderException || cause instanceof CertPathValidatorException) {
                        return true;
                    }
                }
                return false;
            }

            /** Why a broker's handshake with a member failed, for the broker's log. */
            public static String refusal(Throwable handshake) {
                for (Throwable cause = handshake; cause != null; cause = cause.getCause()) {
                    if (cause instanceof NotSslRecordException) {
                        return "it does not speak TLS";
                    }
                    if (cause instanceof ClosedChannelException) {
                        return "it left during the TLS handshake";
                    }
                    if (cause instanceof CertPathValidatorException invalid
                            && invalid.getCertPath() != null
                            && invalid.getIndex() >= 0) {
                        X509Certificate certificate = (X509Certificate)
                                invalid.getCertPath().getCertificates().get(invalid.getIndex());
                        return "its certificate " + name(certificate) + " "
                                + trouble(certificate, Instant.now()).orElse("is not trusted: " + invalid.getReason());
                    }
                    if (cause instanceof CertPathBuilderException) {
                        return "it shows a certificate that the farm does not trust";
                    }
                }
                String message = String.valueOf(handshake.getMessage());
                if (message.contains("Empty client certificate chain")) {
                    return "it shows no certificate that the farm trusts";
                }
                return message.contains("Received fatal alert: certificate_")
                        ? "it does not trust the farm's certificate, or not for this host"
                        : "no TLS 1.3 handshake: " + message;
            }
        }
    }
}
