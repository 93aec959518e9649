package export

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
)

// MLflow returns the files of a tracking store as MLflow's file store keeps it: one experiment,
// a run for the findings and one for each model in each way of sampling, with figures as
// metrics, what they depend on as parameters, and the tables as artifacts.
func MLflow(e *Effort) ([]File, error) {
	r := e.Receipt
	m := &tracking{e: e, experiment: numberOf("experiment", r.Name)}
	if err := m.meta(m.experiment, experimentMeta{
		Artifacts: "./" + m.experiment, Created: r.FirstWork.UnixMilli(), ID: m.experiment, Updated: r.Ended.UnixMilli(), Stage: "active", Name: r.Name,
	}); err != nil {
		return nil, err
	}
	if e.Findings != nil {
		if err := m.findings(e.Findings); err != nil {
			return nil, err
		}
	}
	if e.Evaluation == nil {
		return m.files, nil
	}
	for i := range e.Evaluation.Evaluations {
		if err := m.evaluation(&e.Evaluation.Evaluations[i]); err != nil {
			return nil, err
		}
	}
	return m.files, nil
}

// tracking collects the files of one store.
type tracking struct {
	e          *Effort
	experiment string
	files      []File
}

// experimentMeta and runMeta are meta.yaml of an experiment and of a run.
type experimentMeta struct {
	Artifacts string `yaml:"artifact_location"`
	Created   int64  `yaml:"creation_time"`
	ID        string `yaml:"experiment_id"`
	Updated   int64  `yaml:"last_update_time"`
	Stage     string `yaml:"lifecycle_stage"`
	Name      string `yaml:"name"`
}

type runMeta struct {
	Artifacts  string   `yaml:"artifact_uri"`
	Ended      int64    `yaml:"end_time"`
	Entry      string   `yaml:"entry_point_name"`
	Experiment string   `yaml:"experiment_id"`
	Stage      string   `yaml:"lifecycle_stage"`
	ID         string   `yaml:"run_id"`
	Name       string   `yaml:"run_name"`
	UUID       string   `yaml:"run_uuid"`
	SourceName string   `yaml:"source_name"`
	SourceType int      `yaml:"source_type"`
	Source     string   `yaml:"source_version"`
	Started    int64    `yaml:"start_time"`
	Status     int      `yaml:"status"`
	Tags       []string `yaml:"tags"`
	User       string   `yaml:"user_id"`
}

// Numbers of MLflow's protocol.
const (
	statusFinished = 3
	sourceLocal    = 4
)

func (m *tracking) add(name, data string) {
	m.files = append(m.files, File{Name: name, Data: []byte(data)})
}

func (m *tracking) meta(folder string, doc any) error {
	text, err := yaml.Marshal(doc)
	m.add(folder+"/meta.yaml", string(text))
	return err
}

// numberOf is an id of 18 digits that follows from a name.
func numberOf(kind, name string) string {
	d := artifacts.Sum([]byte("mlflow " + kind + "\x00" + name))
	var n uint64
	for _, b := range d[:8] {
		n = n<<8 | uint64(b)
	}
	return strconv.FormatUint(100000000000000000+n%900000000000000000, 10)
}

// run begins a run and returns its folder.
func (m *tracking) run(name string) (string, error) {
	r := m.e.Receipt
	id := artifacts.Sum([]byte("mlflow run\x00" + r.Reproduction + "\x00" + name)).Hex()[:32]
	folder := m.experiment + "/" + id
	err := m.meta(folder, runMeta{
		Artifacts: "./" + folder + "/artifacts", Ended: r.Ended.UnixMilli(), Experiment: m.experiment, Stage: "active", ID: id, UUID: id, Name: name,
		SourceName: "cxrepro", SourceType: sourceLocal, Source: m.e.version(), Started: r.FirstWork.UnixMilli(), Status: statusFinished, Tags: []string{}, User: "cxrepro",
	})
	for k, v := range map[string]string{
		"mlflow.runName": name, "mlflow.source.name": "cxrepro", "mlflow.source.type": "LOCAL", "mlflow.user": "cxrepro",
		"cxrepro.reproduction_id": r.Reproduction, "cxrepro.result_digest": r.ResultDigest.String(), "cxrepro.receipt": m.e.ReceiptRef.Digest.String(),
		"cxrepro.ledger_root": m.e.Root.String(), "cxrepro.data_use": r.DataUse,
	} {
		m.add(folder+"/tags/"+k, v)
	}
	for k, v := range map[string]string{"paper": r.Paper, "rules": r.Rules, "plan": r.Plan.Digest.String(), "data": r.Manifest.Digest.String()} {
		m.add(folder+"/params/"+k, v)
	}
	for _, t := range m.e.Tables {
		m.files = append(m.files, File{Name: folder + "/artifacts/" + t.Name, Data: t.Data})
	}
	slices.SortFunc(m.files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	return folder, err
}

// unfit is what a metric's name may not hold.
var unfit = regexp.MustCompile(`[^A-Za-z0-9_./ -]`)

func (m *tracking) metric(folder, name string, v float64, at time.Time) {
	m.add(folder+"/metrics/"+unfit.ReplaceAllString(name, "_"), fmt.Sprintf("%d %s 0\n", at.UnixMilli(), strconv.FormatFloat(v, 'g', -1, 64)))
}

func (m *tracking) findings(s *contract.Summary) error {
	folder, err := m.run("findings")
	at := m.e.Receipt.Ended
	m.metric(folder, "images", float64(s.Images.Images), at)
	m.metric(folder, "global_kept", float64(s.Global.Kept), at)
	for _, t := range s.Tasks {
		m.metric(folder, t.Task+".total", float64(t.Total), at)
		for _, l := range t.Labels {
			m.metric(folder, t.Task+"."+l.Label, float64(l.N), at)
		}
	}
	return err
}

func (m *tracking) evaluation(s *contract.SummaryEvaluation) error {
	folder, err := m.run(s.Name)
	for k, v := range map[string]string{
		"model": s.Model.Title, "sampling": s.Sampling, "draws": strconv.Itoa(s.Draws), "adapter": s.Model.Adapter, "pictures": s.Model.Pictures,
		"simulated": strconv.FormatBool(s.Model.Simulated),
	} {
		m.add(folder+"/params/"+k, v)
	}
	for _, p := range s.Paths {
		for _, row := range append(slices.Clone(p.Tasks), p.Groups...) {
			for _, c := range row.Cells {
				if c.Plain.Value != nil {
					m.metric(folder, strings.Join([]string{p.Path.String(), row.Name, c.Column}, "."), *c.Plain.Value, m.e.Receipt.Ended)
				}
				if c.Refined != nil && c.Refined.Value != nil {
					m.metric(folder, strings.Join([]string{p.Path.String(), row.Name, c.Column, "refined"}, "."), *c.Refined.Value, m.e.Receipt.Ended)
				}
			}
		}
	}
	return err
}
