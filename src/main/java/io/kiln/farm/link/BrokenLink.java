// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.link;

import io.kiln.base.Failure;
import io.kiln.base.Problem;
import io.kiln.farm.link.FarmAddress.FarmAccess.Store;
import io.kiln.farm.link.FarmAddress.FarmStores;
import io.kiln.farm.link.FarmAddress.FarmStores.PeerCertificate;
import io.kiln.farm.link.FarmLink.FarmLost;
import java.io.EOFException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.security.GeneralSecurityException;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.Optional;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedTrustManager;

/**
 * Finds out why a member could not connect. The engine says the same of a port where nothing listens, of an unknown authority and of a wrong host, so
 * this asks the port once more, step by step, and sends nothing by which the other side would know a secret.
 */
final class BrokenLink {
    private static final int VERDICT_MILLIS = 1500;

    private final FarmAddress address;
    private final Throwable seen;
    private boolean isAbsent;

    private BrokenLink(FarmAddress address, Throwable seen) {
        this.address = address;
        this.seen = seen;
    }

    /**
     * The reason with its remedy.
     *
     * @param seen what the engine said, for reasons that cannot be found
     */
    static FarmLost lost(FarmAddress address, Throwable seen) {
        BrokenLink link = new BrokenLink(address, seen);
        Problem problem = link.problem();
        return new FarmLost(problem, link.isAbsent, seen);
    }

    private Problem problem() {
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress(address.bareHost(), address.port()), (int)
                    address.patience().toMillis());
            socket.setSoTimeout((int) address.patience().toMillis());
            return address.isEncrypted() ? encrypted(socket) : plain(socket);
        } catch (UnknownHostException e) {
            return told("nobody knows the host " + address.host(), "", "Check the name in kiln.farm");
        } catch (ConnectException e) {
            isAbsent = true;
            return told(
                    "nothing listens there",
                    broker(),
                    address.isForeign()
                            ? "Start it, or correct kiln.farm"
                            : "Start one with kiln:farm, or leave kiln.farm out");
        } catch (SocketTimeoutException e) {
            return silent();
        } catch (IOException e) {
            // No way to the host, for one.
            isAbsent = true;
            return told(
                    String.valueOf(e.getMessage()),
                    broker(),
                    "Check kiln.farm, and the network between here and there");
        } catch (GeneralSecurityException e) {
            return told(String.valueOf(e.getMessage()), "a broker", "");
        }
    }

    private Problem silent() {
        isAbsent = true;
        return told(
                "it does not answer within " + address.patience().toSeconds() + " s",
                "a broker",
                "Check the network, and firewalls between here and there; for slow computers, set"
                        + " kiln.farm.connectTimeout");
    }

    private String broker() {
        return address.isForeign() ? "a broker that speaks AMQP 1.0" : "a broker";
    }

    private Problem told(String why, String expected, String next) {
        return Failure.FARM.problem("the farm's broker cannot be reached: " + why, address.url(), expected, next);
    }

    /** Without TLS: does the port wait for TLS? */
    private Problem plain(Socket socket) throws IOException, GeneralSecurityException {
        SeenPeer peer = SeenPeer.trustingNobody();
        try (SSLSocket tls = wrapped(socket, new KeyManager[0], peer)) {
            tls.startHandshake();
        } catch (IOException e) {
            // Nobody is trusted, so it fails in any case. What matters is how far it came.
            if (peer.certificate().isEmpty()) {
                return told(
                        "something listens there, but it is no broker: " + seen.getMessage(),
                        broker(),
                        "Check the port in kiln.farm");
            }
        }
        return told(
                "it wants TLS",
                address.encrypted().url(),
                "Set kiln.farm to that, and kiln.farm.trustStore to a store with the broker's certificate");
    }

    private Problem encrypted(Socket socket) throws IOException, GeneralSecurityException {
        SeenPeer peer = SeenPeer.trusting(address.access().trust().orElseThrow());
        long begin = System.nanoTime();
        try (SSLSocket tls = wrapped(socket, FarmStores.keys(address.access()), peer)) {
            SSLParameters parameters = tls.getSSLParameters();
            parameters.setEndpointIdentificationAlgorithm("HTTPS");
            parameters.setProtocols(new String[] {Transports.PROTOCOLS});
            tls.setSSLParameters(parameters);
            tls.startHandshake();
            return verdict(tls);
        } catch (SSLException e) {
            // A program that does not understand TLS ends the connection at once; one that has no time for it, later.
            boolean isLate = System.nanoTime() - begin > address.patience().toNanos() / 4;
            return isLate && e.getCause() instanceof EOFException ? silent() : refused(peer, e);
        }
    }

    private SSLSocket wrapped(Socket socket, KeyManager[] keys, SeenPeer peer)
            throws IOException, GeneralSecurityException {
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(keys, new TrustManager[] {peer}, null);
        return (SSLSocket) context.getSocketFactory().createSocket(socket, address.bareHost(), address.port(), true);
    }

    /** What the broker thinks of this member: with TLS 1.3 it says so only after the member has finished its part. */
    private Problem verdict(SSLSocket tls) throws IOException {
        tls.setSoTimeout(VERDICT_MILLIS);
        try {
            if (tls.getInputStream().read() < 0) {
                // One that is just starting, or that had no time for this member within a limit of its own.
                isAbsent = true;
                return told("it ends the connection: " + seen.getMessage(), "a broker", "Its log says why");
            }
        } catch (SocketTimeoutException e) {
            return told("it does not speak the farm's protocol: " + seen.getMessage(), "a broker", "");
        } catch (SSLException e) {
            return address.access()
                    .keys()
                    .map(own -> told(
                            "the broker does not trust this member's certificate",
                            "the certificate in kiln.farm.keyStore " + own.file()
                                    + ", or its signer's, in the broker's kiln.farm.trustStore",
                            "Give that certificate to whoever runs the broker; its log says why it refuses it"))
                    .orElseGet(() -> told(
                            "the broker wants a certificate of this member",
                            "kiln.farm.keyStore, with a certificate that the broker trusts",
                            ""));
        }
        return told("it does not speak the farm's protocol: " + seen.getMessage(), "a broker", "");
    }

    private Problem refused(SeenPeer peer, SSLException e) {
        Optional<X509Certificate> shown = peer.certificate();
        if (shown.isEmpty()) {
            boolean isPlain = e.getCause() instanceof EOFException
                    || String.valueOf(e.getMessage()).contains("Unsupported or unrecognized SSL message");
            return isPlain
                    ? address.isForeign()
                            ? told("it does not speak TLS", broker(), "Use the port that its owner has set up for TLS")
                            : told(
                                    "it does not speak TLS",
                                    "a broker with kiln.farm.listen=tls://" + address.host() + ":" + address.port(),
                                    "Start it so; a broker without TLS is reached from its own computer by"
                                            + " tcp://localhost:"
                                            + address.port())
                    : told("it does not speak TLS 1.3: " + e.getMessage(), "a broker of a farm", "");
        }
        X509Certificate certificate = shown.get();
        Optional<String> trouble = PeerCertificate.trouble(certificate, Instant.now());
        if (trouble.isPresent()) {
            return expired(certificate, trouble.get());
        }
        if (peer.refusal().filter(PeerCertificate::isFromStranger).isPresent()) {
            return told(
                    "the broker's certificate " + PeerCertificate.name(certificate) + ", signed by "
                            + certificate.getIssuerX500Principal().getName() + ", is not trusted",
                    "that certificate, or its signer's, in kiln.farm.trustStore "
                            + address.access().trust().orElseThrow().file(),
                    "If it is the right broker, add its certificate by keytool -importcert");
        }
        if (peer.refusal().isPresent()) {
            return told(
                    "the broker's certificate " + PeerCertificate.name(certificate) + " was not issued for the host "
                            + address.host(),
                    "one of the hosts it was issued for: " + PeerCertificate.hosts(certificate),
                    "Use one of them in kiln.farm, or make a certificate with -ext SAN=dns:" + address.host());
        }
        return told("TLS fails: " + e.getMessage(), "a broker of a farm", "");
    }

    private Problem expired(X509Certificate certificate, String trouble) {
        return told(
                "the broker's certificate " + PeerCertificate.name(certificate) + " " + trouble,
                "a certificate that is valid today",
                "Whoever runs the broker has to renew it; the page \"Operate a farm\" says how");
    }

    /**
     * Judges a server as Java does, and by the dates of its certificate, and remembers what the server has shown and why it was refused. For one connection.
     */
    static final class SeenPeer extends X509ExtendedTrustManager {
        private final Optional<X509ExtendedTrustManager> judge;
        private Optional<X509Certificate> certificate = Optional.empty();
        private Optional<CertificateException> refusal = Optional.empty();

        private SeenPeer(Optional<X509ExtendedTrustManager> judge) {
            this.judge = judge;
        }

        /** Refuses everybody. */
        static SeenPeer trustingNobody() {
            return new SeenPeer(Optional.empty());
        }

        /** Trusts the certificates of a store. */
        static SeenPeer trusting(Store store) throws IOException, GeneralSecurityException {
            TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            factory.init(FarmStores.load(store));
            return new SeenPeer(Optional.of((X509ExtendedTrustManager) factory.getTrustManagers()[0]));
        }

        /** What the server has shown. */
        Optional<X509Certificate> certificate() {
            return certificate;
        }

        /** Why it was refused; empty if it was not. */
        Optional<CertificateException> refusal() {
            return refusal;
        }

        /** A part of a judgement. */
        @FunctionalInterface
        private interface Judgement {
            void by(X509ExtendedTrustManager judge) throws CertificateException;
        }

        private void judge(X509Certificate[] chain, Judgement judgement) throws CertificateException {
            certificate = Optional.of(chain[0]);
            try {
                judgement.by(judge.orElseThrow(() -> new CertificateException("nobody is trusted")));
                Optional<String> trouble = PeerCertificate.trouble(chain[0], Instant.now());
                if (trouble.isPresent()) {
                    throw new CertificateException(trouble.get());
                }
            } catch (CertificateException e) {
                refusal = Optional.of(e);
                throw e;
            }
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type, Socket socket)
                throws CertificateException {
            judge(chain, judge -> judge.checkServerTrusted(chain, type, socket));
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine)
                throws CertificateException {
            judge(chain, judge -> judge.checkServerTrusted(chain, type, engine));
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type) throws CertificateException {
            judge(chain, judge -> judge.checkServerTrusted(chain, type));
        }

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type, Socket socket)
                throws CertificateException {
            throw new CertificateException("only servers are judged");
        }

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine)
                throws CertificateException {
            throw new CertificateException("only servers are judged");
        }

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type) throws CertificateException {
            throw new CertificateException("only servers are judged");
        }

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return judge.map(X509ExtendedTrustManager::getAcceptedIssuers).orElse(new X509Certificate[0]);
        }
    }
}
