// SPDX-License-Identifier: Apache-2.0
import groovy.json.JsonSlurper

def target = new File(basedir, 'target')
def verify = new JsonSlurper().parse(new File(target, 'kiln/verify.json'))
assert verify.bitExact && verify.passed
assert verify.cases*.name == ['vector_0'] : 'only vectors prove what C of the user computes'

def report = new JsonSlurper().parse(new File(target, 'kiln/report.json'))
assert report.operators*.schedule == ['call of told']
return true
