// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.link;

import io.kiln.base.Failure;
import io.kiln.base.Problems;
import io.kiln.farm.link.FarmAddress.FarmAccess;
import io.kiln.farm.link.FarmAddress.FarmAccess.Store;
import io.netty.handler.ssl.NotSslRecordException;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.nio.file.Files;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.UnrecoverableKeyException;
import java.security.cert.CertPathBuilderException;
import java.security.cert.CertPathValidatorException;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateParsingException;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSession;
import javax.net.ssl.TrustManagerFactory;

/** Opens a member's stores before a connection does: by then, every fault of a store looks like a broker that does not answer. */
public final class FarmStores {
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

    private static List<X509Certificate> certificates(KeyStore store, boolean areOwn) throws GeneralSecurityException {
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
                        : names.stream().map(name -> String.valueOf(name.get(1))).collect(Collectors.joining(", "));
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
