#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes the keys and certificates of a farm with TLS, or renews them, with nothing but the JDK's keytool.
#
#   farm-tls.sh FOLDER HOST[,HOST...] MEMBER...
#
# FOLDER/authority.p12      signs the others. Keep it off the farm's computers: whoever has it makes members. 5 years.
# FOLDER/broker.p12         the broker's key, for the hosts named. 1 year.
# FOLDER/MEMBER.p12         a member's key, one for each worker and each person. 1 year.
# FOLDER/trust.p12          what everybody trusts: the authority's certificate.
# FOLDER/password           of all these stores.
#
# Called again, it makes new keys for the broker and for the members named, signed by the same authority: nobody else
# has to change anything. To bar a member, make a new authority in another folder, and give everybody else new keys.
set -eu
umask 077
[ $# -ge 2 ] || { echo "usage: $0 FOLDER HOST[,HOST...] MEMBER..." >&2; exit 2; }
folder=$1
hosts=$2
shift 2
keytool=${JAVA_HOME:+$JAVA_HOME/bin/}keytool
authority_days=${KILN_AUTHORITY_DAYS:-1825}
days=${KILN_DAYS:-365}
mkdir -p "$folder"
cd "$folder"
if [ ! -f password ]; then
    od -An -N16 -tx1 /dev/urandom | tr -d ' \n' > password.part
    mv password.part password
fi

# The password goes by a file: other users of a computer see command lines.
kt() {
    "$keytool" "$@" -storetype PKCS12 -storepass:file password
}

if [ ! -f authority.p12 ]; then
    kt -genkeypair -alias authority -keyalg EC -groupname secp256r1 -dname "CN=farm authority" \
        -validity "$authority_days" -ext bc:critical=ca:true,pathlen:0 -ext ku:critical=keyCertSign,cRLSign \
        -keystore authority.p12
    kt -exportcert -rfc -alias authority -keystore authority.p12 -file authority.pem
    kt -importcert -noprompt -alias authority -file authority.pem -keystore trust.p12
fi

# make NAME [EXTENSION...]: a key and its certificate, whole or not at all.
make() {
    name=$1
    shift
    rm -f "$name.part" "$name.csr" "$name.pem"
    kt -genkeypair -alias "$name" -keyalg EC -groupname secp256r1 -dname "CN=$name" \
        -validity "$days" -keystore "$name.part"
    kt -certreq -alias "$name" -keystore "$name.part" -file "$name.csr"
    kt -gencert -rfc -alias authority -keystore authority.p12 -infile "$name.csr" -outfile "$name.pem" \
        -validity "$days" -ext ku:critical=digitalSignature "$@"
    kt -importcert -noprompt -alias authority -file authority.pem -keystore "$name.part"
    kt -importcert -noprompt -alias "$name" -file "$name.pem" -keystore "$name.part"
    kt -delete -alias authority -keystore "$name.part"
    rm -f "$name.csr" "$name.pem"
    mv "$name.part" "$name.p12"
}

names=
for host in $(echo "$hosts" | tr ',' ' '); do
    case $host in
        *[!0-9.]*) names="$names,dns:$host" ;;
        *) names="$names,ip:$host" ;;
    esac
done
make broker -ext "san=${names#,}" -ext eku=serverAuth
for member in "$@"; do
    case $member in
        authority | broker | trust | *[!A-Za-z0-9._-]*) echo "not a member's name: $member" >&2; exit 2 ;;
    esac
    make "$member" -ext eku=clientAuth
done
echo "valid for $days days: broker for $hosts$(for member in "$@"; do printf ', %s' "$member"; done)"
